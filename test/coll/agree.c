/* SPDX-License-Identifier: BSD-3-Clause */

/* This test counts the messages that libnuioa-coll sends by itself. Each case counts the
 * collectives that reach the MPI library by their PMPI names, which only the preloaded library uses
 * here, and checks their number. Usage: agree CASE...; rank 0 prints "CASE: ... right" or "...
 * WRONG". */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE (1 << 18)

static long seen; /* the number of collectives that libnuioa-coll has called */
static int
    program; /* above 0: the program itself is in a call, which is not counted if passed on */
static char data[LARGE];

/* Returns the MPI library's function, which this program overrides. */
static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

#define LIST(...) __VA_ARGS__
#define WATCH(name, parameters, arguments) \
    int PMPI_##name(parameters) \
    { \
        int (*call)(parameters); \
        void *found = next("PMPI_" #name); \
        memcpy(&call, &found, sizeof(call)); \
        seen++; \
        return call(arguments); \
    }

WATCH(Bcast, LIST(void *b, int n, MPI_Datatype t, int r, MPI_Comm c), LIST(b, n, t, r, c))
WATCH(Allreduce, LIST(const void *o, void *i, int n, MPI_Datatype t, MPI_Op p, MPI_Comm c),
      LIST(o, i, n, t, p, c))
WATCH(Allgather,
      LIST(const void *o, int n, MPI_Datatype t, void *i, int m, MPI_Datatype u, MPI_Comm c),
      LIST(o, n, t, i, m, u, c))
WATCH(Comm_split, LIST(MPI_Comm c, int k, int o, MPI_Comm *n), LIST(c, k, o, n))
WATCH(Comm_split_type, LIST(MPI_Comm c, int t, int o, MPI_Info i, MPI_Comm *n), LIST(c, t, o, i, n))
WATCH(Barrier, LIST(MPI_Comm c), LIST(c))

/* --- what a program does ---------------------------------------------------------------------- */

static void small_broadcasts(MPI_Comm comm, int calls)
{
    int one = 1;
    for (int i = 0; i < calls; i++) {
        MPI_Bcast(&one, 1, MPI_INT, 0, comm);
        program++;
    }
}

static void broadcasts(MPI_Comm comm, int calls)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < calls; i++) {
        memset(data, rank == i % size ? i + 1 : 0, sizeof(data));
        MPI_Bcast(data, LARGE, MPI_CHAR, i % size, comm);
        program++;
        if (data[0] != i + 1 || data[LARGE - 1] != i + 1)
            seen += 1000000; /* the received bytes are wrong */
    }
}

static void ring(int rank, int size)
{
    for (int i = 0; i < 20; i++)
        MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, data, LARGE, MPI_CHAR,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns a communicator of all ranks, merged from two groups: communicators with ranks of another
 * MPI_COMM_WORLD are made in this way. */
static MPI_Comm merged(int rank, int size)
{
    MPI_Comm half, inter, comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, 7, &inter);
    MPI_Intercomm_merge(inter, rank < size / 2, &comm);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    seen = 0;
    return comm;
}

/* Returns how many collectives the library must add on each rank; -1: it must lead, so that fewer
 * collectives reach the MPI library than the program calls. */
static long run(const char *what, int rank, int size)
{
    MPI_Comm comm;
    if (!strcmp(what, "messages")) {
        ring(rank, size);
        return 0;
    }
    if (!strcmp(what, "self")) {
        small_broadcasts(MPI_COMM_SELF, 20);
        return 0;
    }
    if (!strcmp(what, "once")) { /* communicators that are used once or twice */
        for (int i = 0; i < 50; i++) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            small_broadcasts(comm, 2);
            MPI_Comm_free(&comm);
        }
        return 0;
    }
    if (!strcmp(what, "merged"))
        comm = merged(rank, size);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!strcmp(what, "small"))
        small_broadcasts(comm, 1000);
    else
        broadcasts(comm, 20);
    MPI_Comm_free(&comm);
    bool leads = !strcmp(what, "led") || !strcmp(what, "merged");
    return leads ? -1 : 1; /* the question whether all ranks have the same settings */
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void *real = next("PMPI_Reduce");
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    memcpy(&reduce, &real, sizeof(reduce));
    for (int i = 1; i < argc; i++) {
        seen = program = 0;
        long wanted = run(argv[i], rank, size), added = seen - program, most;
        reduce(&added, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s: %ld of the library's own: %s\n", argv[i], most,
                   (wanted < 0 ? most < 0 : most == wanted) ? "right" : "WRONG");
    }
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
