/* SPDX-License-Identifier: BSD-3-Clause */

/* An irregular pattern whose traffic is known: the ranks in the middle communicate most. Each way
 * to send is used. Rank 0 prints the pairs of the profile that a trace of it must give. Usage:
 * irregular [abort | exit | _exit | crash | plain]; plain: neither persistent requests nor
 * one-sided */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "known.h"

enum { ROUNDS = 3 };

static int rank, size, plain;
static char out[1 << 20], in[1 << 20];

static void sent(int to, long long bytes)
{
    sent_by(rank, to, bytes);
}

/* How many doubles go from i to j; of the heavy ones some are just below, at or above 32 KiB. */
static int amount(int i, int j)
{
    int middle = (i >= size / 4 && i < size - size / 4) + (j >= size / 4 && j < size - size / 4);
    if ((i * 7 + j * 3) % 5 == 0 || i == j)
        return 0;
    int heavy = 4095 + (i + j) % 3 + ((i + 2 * j) % 4 == 0 ? 5000 + 11 * i : 0);
    return middle == 2 ? heavy : middle == 1 ? 300 + i : 5;
}

/* One way to send for each message; `reverse` is a communicator in which the ranks are reversed. */
static void send_one(int way, int to, int count, MPI_Comm reverse)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int there = size - 1 - to;
    switch (way) {
    case 0: MPI_Send(out, count, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); break;
    case 1: MPI_Ssend(out, count, MPI_DOUBLE, there, 0, reverse); break;
    case 2: MPI_Bsend(out, count, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); break;
    case 3: MPI_Isend(out, count, MPI_DOUBLE, there, 0, reverse, &request); break;
    case 4: MPI_Issend(out, count, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &request); break;
    case 5: MPI_Ibsend(out, count, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &request); break;
    case 6: MPI_Send_init(out, count, MPI_DOUBLE, there, 0, reverse, &request); break;
    case 7:
        MPI_Sendrecv(out, count, MPI_DOUBLE, to, 0, in, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    }
    sent(to, 8LL * count);
    if (way == 6) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Startall(1, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        sent(to, 8LL * count);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void receive_one(int way, int from, int count, MPI_Comm reverse)
{
    int there = size - 1 - from;
    for (int i = 0; i < (way == 6 ? 2 : 1); i++)
        if (way == 1 || way == 3 || way == 6)
            MPI_Recv(in, count, MPI_DOUBLE, there, 0, reverse, MPI_STATUS_IGNORE);
        else
            MPI_Recv(in, count, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(MPI_Comm reverse)
{
    static char room[4 << 20];
    MPI_Buffer_attach(room, sizeof(room));
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                int count = amount(i, j), way = (i + j + round) % 8;
                if (plain && way == 6)
                    way = 0;
                if (count && rank == i)
                    send_one(way, j, count, reverse);
                if (count && rank == j)
                    receive_one(way, i, count, reverse);
            }
    void *old;
    int length;
    MPI_Buffer_detach(&old, &length);
    MPI_Send(out, 100, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void put_and_get(void)
{
    static char memory[4096];
    MPI_Win window;
    MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 100, MPI_BYTE, (rank + 1) % size, 0, 100, MPI_BYTE, window);
    sent((rank + 1) % size, 100);
    MPI_Get(in, 77, MPI_BYTE, (rank + 2) % size, 200, 77, MPI_BYTE, window);
    sent_by((rank + 2) % size, rank, 77);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    MPI_Comm reverse;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    plain = argc > 1 && !strcmp(argv[1], "plain");
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reverse);
    exchange(reverse);
    MPI_Comm_free(&reverse);
    if (!plain)
        put_and_get();
    print_known(rank, size);
    if (argc > 1 && !strcmp(argv[1], "abort") && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (argc > 1 && !strcmp(argv[1], "exit"))
        exit(4);
    if (argc > 1 && !strcmp(argv[1], "_exit"))
        _exit(5);
    if (argc > 1 && !strcmp(argv[1], "crash"))
        raise(SIGSEGV);
    MPI_Finalize();
    return 0;
}
