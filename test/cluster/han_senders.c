/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * han_senders monitored: COUNT times MPI_Allreduce, then MPI_Bcast and MPI_Reduce of each root.
 * Each rank prints "sent RANK DESTINATION N": its messages in the calls of MPI_Allreduce, as Open
 * MPI's pml/monitoring has counted them. Rank 0 prints "wrong N", how many results of all ranks
 * were wrong. All this is printed when MPI_Finalize begins: the monitoring may crash where a
 * communicator of HAN is freed.
 *
 * han_senders halves: the same, but for the messages, also among the odd and the even ranks, the
 * highest first.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 2000, COUNT = 20, RANKS_MAX = 64 };

static int in[LENGTH], out[LENGTH];

/* Fills both arrays: in[] with what this rank adds to a sum. */
static void fill(int rank, int round)
{
    for (int i = 0; i < LENGTH; i++) {
        in[i] = rank + i + round;
        out[i] = -1;
    }
}

/* Returns 1 if out[] is not the sum over all ranks, else 0. */
static int differs_from_sum(int size, int round)
{
    int wrong = 0;
    for (int i = 0; i < LENGTH; i++)
        wrong |= out[i] != size * (size - 1) / 2 + size * (i + round);
    return wrong;
}

/* Reads how many messages this rank has sent to each other. Returns 0, or an error of MPI. */
static int read_sent(unsigned long *sent)
{
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle handle;
    int index, count, rc = 0;
    MPI_Comm world = MPI_COMM_WORLD;
    if (!session) {
        rc = MPI_T_pvar_get_index("pml_monitoring_messages_count", MPI_T_PVAR_CLASS_SIZE, &index);
        rc = rc ? rc : MPI_T_pvar_session_create(&session);
        rc = rc ? rc : MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count);
        rc = rc ? rc : MPI_T_pvar_start(session, handle);
    }
    return rc ? rc : MPI_T_pvar_read(session, handle, sent);
}

static int wrong_allreduce(MPI_Comm comm, int count)
{
    int rank, size, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < count; round++) {
        fill(rank, round);
        MPI_Allreduce(in, out, LENGTH, MPI_INT, MPI_SUM, comm);
        wrong += differs_from_sum(size, round);
    }
    return wrong;
}

static int wrong_rooted(MPI_Comm comm)
{
    int rank, size, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++) {
        fill(rank, root);
        MPI_Reduce(in, out, LENGTH, MPI_INT, MPI_SUM, root, comm);
        wrong += rank == root && differs_from_sum(size, root);
        MPI_Bcast(in, LENGTH, MPI_INT, root, comm);
        for (int i = 0; i < LENGTH; i++)
            if (in[i] != root + i + root) {
                wrong++;
                break;
            }
    }
    return wrong;
}

/* The first call makes HAN's communicators, so it is not counted. */
static int monitored_allreduce(int rank, int size)
{
    unsigned long before[RANKS_MAX], after[RANKS_MAX];
    int wrong = wrong_allreduce(MPI_COMM_WORLD, 1);
    if (size > RANKS_MAX || read_sent(before))
        return wrong + 1;
    wrong += wrong_allreduce(MPI_COMM_WORLD, COUNT);
    if (read_sent(after))
        return wrong + 1;
    for (int i = 0; i < size; i++)
        if (after[i] != before[i])
            printf("sent %d %d %lu\n", rank, i, after[i] - before[i]);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, provided, wrong, all;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && !strcmp(argv[1], "monitored")) {
        wrong = monitored_allreduce(rank, size);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        wrong = wrong_allreduce(MPI_COMM_WORLD, COUNT);
        wrong += wrong_allreduce(half, COUNT) + wrong_rooted(half);
        MPI_Comm_free(&half);
    }
    wrong += wrong_rooted(MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("wrong %d\n", all);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
