/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures the time that the trace adds to a call. The same function is called in turns by its MPI
 * name, which the trace sees, and by its PMPI name, which it does not see. One rank sends to
 * itself. Prints a table. Usage: cost [ROUNDS [ROW [threads]]]; ROW -1: all; threads: with
 * MPI_THREAD_MULTIPLE in force */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 2000, ROUNDS_MAX = 2000 };

static char out[1 << 20], in[1 << 20];
static MPI_Comm copy;
static MPI_Win window;
static MPI_Request persistent, persistent_in;

#define MESSAGE(send) \
    do { \
        MPI_Request r; \
        PMPI_Irecv(in, bytes, MPI_BYTE, 0, 0, comm, &r); \
        send(out, bytes, MPI_BYTE, 0, 0, comm); \
        PMPI_Wait(&r, MPI_STATUS_IGNORE); \
    } while (0)
#define RESTART(start) \
    do { \
        PMPI_Start(&persistent_in); \
        start(&persistent); \
        PMPI_Wait(&persistent, MPI_STATUS_IGNORE); \
        PMPI_Wait(&persistent_in, MPI_STATUS_IGNORE); \
    } while (0)
#define STORE(put) put(out, bytes, MPI_BYTE, 0, 0, bytes, MPI_BYTE, window)

enum kind { WORLD, COPY, START, PUT, BIG, KINDS };
static const char *const what[KINDS] = { "Send, 8 bytes, MPI_COMM_WORLD",
                                         "Send, 8 bytes, two communicators in turn",
                                         "Start, 8 bytes", "Put, 8 bytes", "Send, 64 KiB" };

/* Returns the nanoseconds of one call. */
static double round_of(enum kind kind, int seen)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int bytes = kind == BIG ? 65536 : 8, calls = kind == BIG ? CALLS / 10 : CALLS;
    double start = PMPI_Wtime();
    for (int i = 0; i < calls; i++) {
        if (kind == COPY)
            comm = i & 1 ? copy : MPI_COMM_WORLD;
        switch (kind) {
        case START:
            if (seen)
                RESTART(MPI_Start);
            else
                RESTART(PMPI_Start);
            break;
        case PUT:
            if (seen)
                STORE(MPI_Put);
            else
                STORE(PMPI_Put);
            break;
        default:
            if (seen)
                MESSAGE(MPI_Send);
            else
                MESSAGE(PMPI_Send);
            break;
        }
    }
    double ns = (PMPI_Wtime() - start) / calls * 1e9;
    if (kind == PUT)
        PMPI_Win_flush(0, window);
    return ns;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), ascending);
    return values[count / 2];
}

int main(int argc, char **argv)
{
    static double plain[ROUNDS_MAX], difference[ROUNDS_MAX];
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    int row = argc > 2 ? atoi(argv[2]) : -1;
    static char memory[1 << 20];
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    int level = argc > 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    MPI_Send_init(out, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &persistent);
    MPI_Recv_init(in, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &persistent_in);
    printf("%-42s %10s %10s\n", "call", "alone, ns", "added, ns");
    for (int kind = 0; kind < KINDS; kind++) {
        if (row >= 0 && row != kind)
            continue;
        for (int i = -3; i < rounds; i++) { /* the first ones warm up */
            double first = round_of(kind, i & 1), second = round_of(kind, !(i & 1));
            if (i < 0)
                continue;
            plain[i] = i & 1 ? second : first;
            difference[i] = i & 1 ? first - second : second - first;
        }
        printf("%-42s %10.1f %10.1f\n", what[kind], median(plain, rounds),
               median(difference, rounds));
    }
    MPI_Request_free(&persistent);
    MPI_Request_free(&persistent_in);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
