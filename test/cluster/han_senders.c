/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * han_senders COUNT [halves]: COUNT times MPI_Allreduce, then MPI_Bcast and MPI_Reduce of each
 * root; with "halves" also once among the odd and among the even ranks, the highest first. Rank 0
 * prints "wrong N", how many results of all ranks were wrong. A rank that has sent COUNT messages
 * to other nodes leads in MPI_Allreduce. Open MPI's monitoring crashes where a communicator of HAN
 * is freed, so the halves are for runs without it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 2000 };

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

static int wrong_of(MPI_Comm comm, int count)
{
    int rank, size, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < count; round++) {
        fill(rank, round);
        MPI_Allreduce(in, out, LENGTH, MPI_INT, MPI_SUM, comm);
        wrong += differs_from_sum(size, round);
    }
    for (int root = 0; root < size; root++) {
        fill(rank, root);
        MPI_Reduce(in, out, LENGTH, MPI_INT, MPI_SUM, root, comm);
        wrong += rank == root && differs_from_sum(size, root);
        fill(rank, root);
        MPI_Bcast(in, LENGTH, MPI_INT, root, comm);
        for (int i = 0; i < LENGTH; i++)
            out[i] = in[i] - root - i - root;
        for (int i = 0; i < LENGTH; i++)
            if (out[i]) {
                wrong++;
                break;
            }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, wrong, theirs;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wrong = wrong_of(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 1);
    if (argc > 2) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        wrong += wrong_of(half, 1);
        MPI_Comm_free(&half);
    }
    MPI_Reduce(&wrong, &theirs, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("wrong %d\n", theirs);
    MPI_Finalize();
    return 0;
}
