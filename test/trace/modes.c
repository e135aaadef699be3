/* SPDX-License-Identifier: BSD-3-Clause */

/* Ways to send that irregular.c leaves out: ready sends, all kinds of persistent ones, accumulating
 * and request-based one-sided calls, collectives among neighbours, what MPI 4 added. Rank 0
 * prints the pairs of the profile that a trace of it must give. 4 ranks. */
#include <stdlib.h>

#include "known.h"

static char out[1 << 16], in[1 << 16];
static int rank, size;

/* Ready sends need a receive that is there already. */
static void ready(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request requests[2];
    for (int way = 0; way < 5; way++) {
        MPI_Irecv(in, 1000, MPI_BYTE, before, 7, MPI_COMM_WORLD, &requests[0]);
        PMPI_Barrier(MPI_COMM_WORLD);
        switch (way) {
        case 0: MPI_Rsend(out, 100, MPI_BYTE, next, 7, MPI_COMM_WORLD); break;
        case 1: MPI_Irsend(out, 200, MPI_BYTE, next, 7, MPI_COMM_WORLD, &requests[1]); break;
        case 2: MPI_Rsend_init(out, 300, MPI_BYTE, next, 7, MPI_COMM_WORLD, &requests[1]); break;
        case 3: MPI_Ssend_init(out, 400, MPI_BYTE, next, 7, MPI_COMM_WORLD, &requests[1]); break;
        case 4: MPI_Bsend_init(out, 500, MPI_BYTE, next, 7, MPI_COMM_WORLD, &requests[1]); break;
        }
        if (way > 1)
            MPI_Start(&requests[1]);
        sent_by(rank, next, 100 * (way + 1));
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        if (way > 0)
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        if (way > 1)
            MPI_Request_free(&requests[1]);
    }
    MPI_Sendrecv_replace(in, 600, MPI_BYTE, next, 8, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent_by(rank, next, 600);
}

/* One call after the other, because of what each says of the order of the one before. */
static void one_sided(void)
{
    static char memory[4096];
    int to = (rank + 2) % size, comparison = 0, value = 1, result;
    MPI_Request request;
    MPI_Win window;
    MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(out, 10, MPI_INT, to, 0, 10, MPI_INT, MPI_SUM, window);
    sent_by(rank, to, 40);
    MPI_Win_flush(to, window);
    MPI_Get_accumulate(out, 20, MPI_INT, in, 20, MPI_INT, to, 0, 20, MPI_INT, MPI_SUM, window);
    sent_by(rank, to, 80);
    sent_by(to, rank, 80);
    MPI_Win_flush(to, window);
    MPI_Get_accumulate(NULL, 0, MPI_INT, in, 30, MPI_INT, to, 0, 30, MPI_INT, MPI_NO_OP, window);
    sent_by(to, rank, 120);
    MPI_Win_flush(to, window);
    MPI_Fetch_and_op(&value, &result, MPI_INT, to, 0, MPI_SUM, window);
    sent_by(rank, to, 4);
    sent_by(to, rank, 4);
    MPI_Win_flush(to, window);
    MPI_Compare_and_swap(&value, &comparison, &result, MPI_INT, to, 0, window);
    sent_by(rank, to, 4);
    sent_by(to, rank, 4);
    MPI_Win_flush(to, window);
    MPI_Rput(out, 50, MPI_BYTE, to, 0, 50, MPI_BYTE, window, &request);
    sent_by(rank, to, 50);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(to, window);
    MPI_Rget(in, 60, MPI_BYTE, to, 0, 60, MPI_BYTE, window, &request);
    sent_by(to, rank, 60);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Raccumulate(out, 70, MPI_INT, to, 0, 70, MPI_INT, MPI_SUM, window, &request);
    sent_by(rank, to, 280);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(to, window);
    MPI_Rget_accumulate(out, 80, MPI_INT, in, 80, MPI_INT, to, 0, 80, MPI_INT, MPI_SUM, window,
                        &request);
    sent_by(rank, to, 320);
    sent_by(to, rank, 320);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* A line of ranks that does not close; a part for each direction. Then a graph that only goes on,
 * with parts of different sizes. */
static void neighbours(void)
{
    static const int four = 4, open = 0;
    static const PLACE zero[2] = { 0, 0 };
    const int next = (rank + 1) % size, after = (rank + 2) % size;
    const int to[2] = { next, after };
    MPI_Comm line, graph;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &four, &open, 0, &line);
    MPI_Neighbor_allgather(out, 33, MPI_BYTE, in, 33, MPI_BYTE, line);
    MPI_Neighbor_alltoall(out, 44, MPI_BYTE, in, 44, MPI_BYTE, line);
    for (int other = rank - 1; other <= rank + 1; other += 2)
        if (other >= 0 && other < size) {
            sent_by(rank, other, 33);
            sent_by(rank, other, 44);
        }
    MPI_Comm_free(&line);

    const int degree = 2;
    MPI_Request request;
    int weights[2] = { 1, 1 }, from[2], into[2];
    COUNT room[2], sizes[2];
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, to, weights, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors(graph, 2, from, weights, 2, into, weights);
    for (int i = 0; i < 2; i++) {
        room[i] = (rank - from[i] + size) % size == 1 ? 11 : 22;
        sizes[i] = into[i] == next ? 11 : 22;
        sent_by(rank, into[i], sizes[i]);
    }
    MPI_Ineighbor_alltoallv(out, sizes, zero, MPI_BYTE, in, room, zero, MPI_BYTE, graph, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&graph);
}

/* Open MPI 5 has them too, but calls itself 3.1. */
static void mpi_4(void)
{
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Isendrecv(out, 700, MPI_BYTE, next, 9, in, 700, MPI_BYTE, before, 9, MPI_COMM_WORLD,
                  requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    sent_by(rank, next, 700);
    MPI_Isendrecv_replace(in, 800, MPI_BYTE, next, 9, before, 9, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    sent_by(rank, next, 800);
    MPI_Psend_init(out, 4, 10000, MPI_BYTE, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 4, 10000, MPI_BYTE, before, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        MPI_Pready_range(0, 3, requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        sent_by(rank, next, 40000);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}

int main(int argc, char **argv)
{
    static char room[1 << 16];
    void *old;
    int length;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Buffer_attach(room, sizeof(room));
    ready();
    MPI_Buffer_detach(&old, &length);
    one_sided();
    neighbours();
    mpi_4();
    print_known(rank, size);
    MPI_Finalize();
    return 0;
}
