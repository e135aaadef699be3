/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks i and i + n/2 exchange messages: bytes COUNT BYTES. Rank 0 prints "at RANK NODE" for each
 * rank; "wrong N", bytes that are not the partner's; and "sent N": what left the nodes by their
 * eth0 meanwhile, which is read by the lowest rank of each node.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the bytes that eth0 has sent, as this process' network namespace counts them. */
static double sent(void)
{
    char line[512];
    double bytes = -1;
    FILE *f = fopen("/proc/self/net/dev", "r");
    while (f && fgets(line, sizeof(line), f)) {
        const char *p = strstr(line, "eth0:");
        if (p)
            sscanf(p, "eth0: %*s %*s %*s %*s %*s %*s %*s %*s %lf", &bytes);
    }
    if (f)
        fclose(f);
    return bytes;
}

/* Rank 0 prints the node of each rank. Returns whether this rank is the lowest of its node: MPICH
 * under Slurm's pmi2 takes each rank for a node. */
static int is_lowest(int rank, int size)
{
    char name[64] = "";
    char(*names)[sizeof(name)] = malloc((size_t)size * sizeof(name));
    int lowest = 1;
    gethostname(name, sizeof(name) - 1);
    MPI_Allgather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < size && !rank; i++)
        printf("at %d %s\n", i, names[i]);
    for (int i = 0; i < rank; i++)
        lowest &= strcmp(names[i], name) != 0;
    free(names);
    return lowest;
}

/* Returns how many bytes that came are not those of the partner's message k. */
static double exchange(int rank, int partner, int k, char *out, char *in, int length)
{
    double wrong = 0;
    memset(out, rank + k, (size_t)length);
    memset(in, -1, (size_t)length);
    MPI_Sendrecv(out, length, MPI_CHAR, partner, 0, in, length, MPI_CHAR, partner, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < length; i++)
        wrong += in[i] != (char)(partner + k);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size;
    double mine[2] = { 0 }, sum[2]; /* bytes that were sent, and wrong ones */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int count = argc > 2 ? atoi(argv[1]) : 1, length = argc > 2 ? atoi(argv[2]) : 1;
    int partner = (rank + size / 2) % size;
    char *out = malloc((size_t)length), *in = malloc((size_t)length);
    int lowest = is_lowest(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (lowest)
        mine[0] = -sent();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < count; k++)
        mine[1] += exchange(rank, partner, k, out, in, length);
    MPI_Barrier(MPI_COMM_WORLD);
    if (lowest)
        mine[0] += sent();
    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("wrong %.0f\nsent %.0f\n", sum[1], sum[0]);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
