/* SPDX-License-Identifier: BSD-3-Clause */
// Two ranks on two nodes exchange data, and each says by which NICs its data left its node:
//
//   RANK devices=rxe1:1            what UCX_NET_DEVICES says, before anything else
//   RANK exchange=right            or wrong: what came is not what was sent
//   RANK carried=eth1,eth2         the NICs over which a tenth of the data or more went

#include <glob.h>
#include <libgen.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, ROUNDS = 2, MAX_NICS = 16 };

static unsigned char out[BYTES], in[BYTES];

static unsigned char content(int rank, int round, size_t i)
{
    return (unsigned char)(i * 31 + (i >> 8) * 7 + (unsigned)(rank * 101 + round * 13));
}

static int exchange(int rank, int round)
{
    int right = 1;

    memset(in, 0, sizeof in);
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = content(rank, round, i);
    MPI_Sendrecv(out, BYTES, MPI_BYTE, 1 - rank, 0, in, BYTES, MPI_BYTE, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < sizeof in; i++)
        right = right && in[i] == content(1 - rank, round, i);
    return right;
}

// Reads how many bytes have left through a NIC; the counter is the kernel's.
static long long sent_by(const char *nic)
{
    char path[256];
    long long bytes = -1;

    snprintf(path, sizeof path, "%s/statistics/tx_bytes", nic);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%lld", &bytes) != 1)
        bytes = -1;
    if (file)
        fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    const char *devices = getenv("UCX_NET_DEVICES"), *self = getenv("SLURM_PROCID");
    char carried[256] = "";
    long long before[MAX_NICS];
    int rank, size, right = 1;
    glob_t nics;

    if (glob("/sys/class/net/eth*", 0, NULL, &nics) != 0 || nics.gl_pathc > MAX_NICS)
        return 1;
    printf("%s devices=%s\n", self, devices ? devices : "");
    fflush(stdout);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < nics.gl_pathc; i++)
        before[i] = sent_by(nics.gl_pathv[i]);
    for (int round = 0; round < ROUNDS; round++)
        right = exchange(rank, round) && right;
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < nics.gl_pathc; i++) {
        if ((sent_by(nics.gl_pathv[i]) - before[i]) * 10 < (long long)BYTES * ROUNDS)
            continue;
        strcat(carried, *carried ? "," : "");
        strcat(carried, basename(nics.gl_pathv[i]));
    }
    printf("%d exchange=%s\n%d carried=%s\n", rank, right ? "right" : "wrong", rank, carried);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
