/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * han [COUNT]: gathers and scatters at every root, among all ranks, or among the first COUNT and
 * among the others. Rank 0 prints "priority N", what coll_han_priority is to Open
 * MPI, or -1 to an MPI without it; and "gather N" and "scatter N": how many roots got or gave wrong
 * data. Counts travel from rank to rank, because collectives are what is tested.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 3 };

static int priority(void)
{
    int provided, index, count, value = -1;
    MPI_T_cvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_cvar_get_index("coll_han_priority", &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_read(handle, &value);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}

/* Returns whether the values are not those of `count` ranks from rank `first` on. */
static int differs(const int *values, int first, int count, int root)
{
    int wrong = 0;
    for (int i = 0; i < count * LENGTH; i++)
        wrong |= values[i] != 1000 * root + first * LENGTH + i;
    return wrong;
}

static void fill(int *values, int first, int count, int root)
{
    for (int i = 0; i < count * LENGTH; i++)
        values[i] = 1000 * root + first * LENGTH + i;
}

int main(int argc, char **argv)
{
    int rank, size, other;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = argc > 1 && rank >= atoi(argv[1]);
    if (argc > 1)
        MPI_Comm_split(MPI_COMM_WORLD, other, rank, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *all = calloc((size_t)size * LENGTH, sizeof(*all)), own[LENGTH];
    int *wrong = calloc((size_t)size * 2, sizeof(*wrong)), roots[2] = { 0 };
    for (int root = 0; root < size; root++) {
        fill(own, rank, 1, root);
        MPI_Gather(own, LENGTH, MPI_INT, all, LENGTH, MPI_INT, root, comm);
        if (rank == root)
            wrong[2 * root] = differs(all, 0, size, root);
        fill(all, 0, size, root);
        MPI_Scatter(all, LENGTH, MPI_INT, own, LENGTH, MPI_INT, root, comm);
        wrong[2 * root + 1] = differs(own, rank, 1, root);
    }
    if (rank)
        MPI_Send(wrong, 2 * size, MPI_INT, 0, 0, comm);
    for (int i = 1; i < size && !rank; i++) {
        int *theirs = all; /* it has LENGTH > 2 for each rank */
        MPI_Recv(theirs, 2 * size, MPI_INT, i, 0, comm, MPI_STATUS_IGNORE);
        for (int k = 0; k < 2 * size; k++)
            wrong[k] |= theirs[k];
    }
    for (int k = 0; k < 2 * size && !rank; k++)
        roots[k % 2] += wrong[k];
    if (!rank && !other)
        printf("priority %d\ngather %d\nscatter %d\n", priority(), roots[0], roots[1]);
    free(wrong);
    free(all);
    MPI_Finalize();
    return 0;
}
