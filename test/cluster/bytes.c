/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks i and i + n/2 exchange messages: bytes COUNT BYTES. Rank 0 prints "sent N": what left the
 * nodes by their eth0 meanwhile, which is read by the lowest rank of each node.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    int rank, size, local;
    double bytes = 0, sum;
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local);
    int count = argc > 2 ? atoi(argv[1]) : 1, length = argc > 2 ? atoi(argv[2]) : 1;
    int partner = (rank + size / 2) % size;
    char *out = calloc(1, (size_t)length), *in = calloc(1, (size_t)length);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!local)
        bytes = -sent();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < count; k++)
        MPI_Sendrecv(out, length, MPI_CHAR, partner, 0, in, length, MPI_CHAR, partner, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!local)
        bytes += sent();
    MPI_Reduce(&bytes, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("sent %.0f\n", sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
