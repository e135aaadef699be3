/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures the time that libnuioa-coll adds to a call that it passes on. Each function is called in
 * turns by its MPI name and by its PMPI name, on a communicator of one rank. Usage: cost [ROUNDS];
 * or cost count mpi|pmpi N: only N calls of Bcast, to count instructions; or, by several ranks with
 * NUIOA_COLL=force, cost asks [ROUNDS]: calls that it leads, on a communicator without GPUs and on
 * one whose ranks ask each other about their buffers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 2000
#define ROUNDS_MAX 1000

static char data[4 << 20];
static MPI_Comm comm;

static void bcast(int n, int tested)
{
    for (int i = 0; i < CALLS; i++)
        (tested ? MPI_Bcast : PMPI_Bcast)(data, n, MPI_BYTE, 0, comm);
}

static const struct {
    const char *name;
    int bytes;
} cases[] = { { "Bcast, 8 bytes", 8 }, { "Bcast, 1 MiB", 1 << 20 } };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(int k, int rounds)
{
    static double alone[ROUNDS_MAX], added[ROUNDS_MAX];
    for (int r = -2; r < rounds; r++) {
        double taken[2];
        for (int i = 0; i < 2; i++) {
            int tested = (r & 1) ^ i;
            double begin = PMPI_Wtime();
            bcast(cases[k].bytes, tested);
            taken[tested] = (PMPI_Wtime() - begin) / CALLS * 1e9;
        }
        if (r >= 0) {
            alone[r] = taken[0];
            added[r] = taken[1] - taken[0];
        }
    }
    qsort(alone, (size_t)rounds, sizeof(*alone), compare);
    qsort(added, (size_t)rounds, sizeof(*added), compare);
    printf("%-22s %10.1f %10.1f\n", cases[k].name, alone[rounds / 2], added[rounds / 2]);
}

/* --- asking ----------------------------------------------------------------------------------- */

#define LED 100 /* calls of a round */
#define LED_BYTES (64 << 10)

static double lead(MPI_Comm on)
{
    PMPI_Barrier(on);
    double begin = PMPI_Wtime();
    for (int i = 0; i < LED; i++)
        MPI_Bcast(data, LED_BYTES, MPI_BYTE, 0, on);
    return (PMPI_Wtime() - begin) / LED * 1e6;
}

/* The library looks for GPUs in the environment when a communicator is used first. */
static void measure_asking(int rounds)
{
    static double alone[ROUNDS_MAX], added[ROUNDS_MAX];
    MPI_Comm on[2];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int asks = 0; asks < 2; asks++) {
        setenv("CUDA_VISIBLE_DEVICES", asks ? "0" : "", 1);
        MPI_Comm_dup(MPI_COMM_WORLD, &on[asks]);
        lead(on[asks]);
    }
    for (int r = 0; r < rounds; r++) {
        double taken[2];
        for (int i = 0; i < 2; i++)
            taken[(r & 1) ^ i] = lead(on[(r & 1) ^ i]);
        alone[r] = taken[0];
        added[r] = taken[1] - taken[0];
    }
    qsort(alone, (size_t)rounds, sizeof(*alone), compare);
    qsort(added, (size_t)rounds, sizeof(*added), compare);
    if (rank == 0)
        printf("%-22s %10.1f %10.1f\n", "Bcast, 64 KiB", alone[rounds / 2], added[rounds / 2]);
    MPI_Comm_free(&on[0]);
    MPI_Comm_free(&on[1]);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    if (argc > 1 && !strcmp(argv[1], "asks")) {
        rounds = argc > 2 ? atoi(argv[2]) : 200;
        measure_asking(rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds);
    } else if (argc > 3) {
        int tested = !strcmp(argv[2], "mpi");
        for (long i = atol(argv[3]); i > 0; i--)
            (tested ? MPI_Bcast : PMPI_Bcast)(data, 1 << 20, MPI_BYTE, 0, comm);
    } else {
        printf("%-22s %10s %10s\n", "call", "alone, ns", "added, ns");
        for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++)
            measure((int)k, rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
