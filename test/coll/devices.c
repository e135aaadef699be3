/* SPDX-License-Identifier: BSD-3-Clause */

/* Broadcasts of buffers in the memory of a GPU, which nobody may touch: runtime.c stands in for
 * the GPU's runtime. The PMPI functions here stand between libnuioa-coll and the MPI library: they
 * count the calls that are passed on, and let the MPI library alone touch that memory, as one that
 * knows GPUs can. Run with NUIOA_COLL=force, so that all is led that is not passed on because of a
 * GPU. Usage: devices RUNTIME [algorithms]. RUNTIME is a path such as DIR/libcuda.so.1; with the
 * word, each algorithm is tried. Rank 0 prints "CASE: ... right" or "... WRONG". */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 8192         /* elements of a rank: a large call (COLL_LARGE) */
#define DEVICE_CALLS 8 /* COLL_DEVICE_CALLS */
enum kind { FOREIGN, DEVICE, MANAGED, PINNED, KINDS };

static MPI_Comm used; /* the program's communicator */
static long passed;   /* calls that reached the MPI library on it */
static long asked;    /* sums that the library has made on other communicators */
static int me, size;
static bool is_long;     /* also each algorithm */
static const char *path; /* of the runtime */
static void *runtime;    /* NULL: not loaded */
static void (*open_memory)(bool open);
static int *stand_in_error, *stand_in_last_error;

/* --- between libnuioa-coll and the MPI library ------------------------------------------------ */

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static void set_open(bool open)
{
    if (open_memory)
        open_memory(open);
}

#define LIST(...) __VA_ARGS__
#define BETWEEN(name, count, parameters, arguments) \
    int PMPI_##name(parameters) \
    { \
        int (*call)(parameters); \
        void *found = next("PMPI_" #name); \
        memcpy(&call, &found, sizeof(call)); \
        count; \
        set_open(true); \
        int rc = call(arguments); \
        set_open(false); \
        return rc; \
    }

BETWEEN(Bcast, passed += comm == used, LIST(void *b, int n, MPI_Datatype t, int r, MPI_Comm comm),
        LIST(b, n, t, r, comm))
BETWEEN(Allreduce, asked += comm != used,
        LIST(const void *o, void *i, int n, MPI_Datatype t, MPI_Op p, MPI_Comm comm),
        LIST(o, i, n, t, p, comm))
BETWEEN(Pack, (void)0,
        LIST(const void *b, int n, MPI_Datatype t, void *o, int s, int *p, MPI_Comm comm),
        LIST(b, n, t, o, s, p, comm))
BETWEEN(Unpack, (void)0,
        LIST(const void *b, int s, int *p, void *o, int n, MPI_Datatype t, MPI_Comm comm),
        LIST(b, s, p, o, n, t, comm))

/* --- one call --------------------------------------------------------------------------------- */

#define NOBODY (-1)
#define ALL (-2)

static int *memory[KINDS]; /* [N] */
static int turn;           /* makes the values of two calls differ */
static long wrong, calls;  /* on this rank, in this case */

static int value(int root, int i)
{
    return turn * 7 + root * 1009 + i;
}

/* Makes one call, and counts what is wrong: the result, and whether it was passed on. The buffer is
 * of this kind on the rank `rank`, or on ALL or NOBODY, and the host's on the others. */
static void make(int rank, enum kind kind, int root, bool passes)
{
    int *buffer = memory[rank == ALL || rank == me ? kind : FOREIGN];
    turn++;
    set_open(true);
    for (int i = 0; i < N; i++)
        buffer[i] = me == root ? value(root, i) : -1;
    set_open(false);
    long before = passed;
    MPI_Bcast(buffer, N, MPI_INT, root, used);
    wrong += passed - before != passes;
    calls++;
    set_open(true);
    for (int i = 0; i < N; i++)
        wrong += buffer[i] != value(root, i);
    set_open(false);
}

static void make_host(bool passes)
{
    make(NOBODY, FOREIGN, turn % size, passes);
}

/* --- cases ------------------------------------------------------------------------------------ */

/* Calls with buffers of this kind on this rank, from each root, after one with buffers of the
 * host. `passes`: calls with a GPU's buffer are passed on. */
static void all_roots(int rank, enum kind kind, bool passes)
{
    for (int root = 0; root < size; root++) {
        make_host(false);
        make(rank, kind, root, passes);
    }
}

/* The same by each algorithm of the library, in one piece and in several. */
static void all_algorithms(int rank)
{
    const char *(*algorithms)(const char *collective);
    int (*choose)(const char *collective, const char *algorithm);
    void *found[2] = { next("nuioa_coll_algorithms"), next("nuioa_coll_choose") };
    char list[1024], piece[64], *save;
    memcpy(&algorithms, &found[0], sizeof(algorithms));
    memcpy(&choose, &found[1], sizeof(choose));
    snprintf(list, sizeof(list), "%s", algorithms("bcast"));
    for (char *word = strtok_r(list, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (!strcmp(word, "pass"))
            continue;
        wrong += choose("bcast", word) != 0;
        all_roots(rank, DEVICE, false);
        snprintf(piece, sizeof(piece), "%s:5000", word);
        wrong += choose("bcast", piece) != 0;
        all_roots(rank, DEVICE, false);
    }
    choose("bcast", NULL);
}

static void report(const char *what)
{
    long mine[2] = { wrong, calls }, all[2];
    void *real = next("PMPI_Allreduce");
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    memcpy(&reduce, &real, sizeof(reduce));
    reduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) {
        printf("%s: %ld calls, %ld wrong: %s\n", what, all[1] / size, all[0],
               all[0] ? "WRONG" : "right");
        fflush(stdout);
    }
    wrong = calls = 0;
}

/* Takes a new communicator, on which the library makes all that it needs. */
static void renew(void)
{
    if (used != MPI_COMM_NULL)
        MPI_Comm_free(&used);
    MPI_Comm_dup(MPI_COMM_WORLD, &used);
    make_host(false);
    make_host(false);
}

static void load(void)
{
    void *(*allocate)(size_t, enum kind);
    runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found[2] = { runtime ? dlsym(runtime, "stand_in_allocate") : NULL,
                       runtime ? dlsym(runtime, "stand_in_open") : NULL };
    if (!found[0] || !found[1]) {
        fprintf(stderr, "%s\n", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memcpy(&allocate, &found[0], sizeof(allocate));
    for (int kind = DEVICE; kind < KINDS; kind++)
        memory[kind] = allocate(N * sizeof(int), kind);
    memcpy(&open_memory, &found[1], sizeof(open_memory));
    stand_in_error = dlsym(runtime, "stand_in_error");
    stand_in_last_error = dlsym(runtime, "stand_in_last_error");
}

static void none_loaded(void)
{
    renew();
    long before = asked;
    make_host(false);
    wrong += asked != before;
    report("none loaded: led, and nobody asks");
    if (me == size - 1)
        setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    renew();
    before = asked;
    make_host(false);
    make_host(false);
    wrong += asked - before != 2;
    unsetenv("CUDA_VISIBLE_DEVICES");
    report("one rank is given a GPU: led, and one question for each call");
}

static void loaded_late(int rank)
{
    renew();
    if (me == rank)
        load();
    if (is_long)
        all_algorithms(rank);
    all_roots(rank, DEVICE, false);
    report("loaded by one rank when it is too late to ask: led, and nobody touches it");
}

static void loaded_by_one(int rank)
{
    renew();
    all_roots(rank, DEVICE, true);
    report("loaded by one rank: passed on by all");
    all_roots(rank, MANAGED, true);
    report("managed memory: passed on by all");
    all_roots(rank, PINNED, false);
    report("pinned memory of the host: led");
}

static void errors(int rank)
{
    if (me == rank)
        *stand_in_error = 700;
    for (int i = 0; i < DEVICE_CALLS - 1; i++)
        make_host(true);
    if (me == rank)
        *stand_in_error = 0;
    make_host(false);
    report("an error of the runtime: passed on by all");
    if (me == rank)
        wrong += *stand_in_last_error != 0;
    if (me == rank)
        *stand_in_last_error = 9;
    make_host(false);
    if (me == rank)
        wrong += *stand_in_last_error == 0;
    report("the last error: it is the program's, and none of ours");
}

/* A datatype with an absolute address: it can be in any memory. */
static void bottom(int rank)
{
    MPI_Aint at;
    MPI_Datatype type;
    set_open(true);
    for (int i = 0; i < N; i++)
        memory[FOREIGN][i] = me == 0 ? value(0, i) : -1;
    set_open(false);
    MPI_Get_address(memory[FOREIGN], &at);
    MPI_Type_create_hindexed(1, (int[]){ N }, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    long before = passed;
    MPI_Bcast(me == rank ? MPI_BOTTOM : memory[FOREIGN], me == rank ? 1 : N,
              me == rank ? type : MPI_INT, 0, used);
    MPI_Type_free(&type);
    wrong += passed - before != 1;
    calls++;
    for (int i = 0; i < N; i++)
        wrong += memory[FOREIGN][i] != value(0, i);
    report("MPI_BOTTOM: passed on by all");
}

static void loaded_by_all(int rank)
{
    if (me != rank)
        load();
    renew();
    all_roots(ALL, DEVICE, true);
    report("loaded by all ranks: passed on by all");
    make_host(false);
    for (int i = 0; i < DEVICE_CALLS; i++)
        make(rank, DEVICE, 0, true);
    long before = asked;
    make_host(true);
    wrong += asked != before;
    report("device buffers alone: nobody asks any more");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    path = argc > 1 ? argv[1] : "";
    is_long = argc > 2;
    used = MPI_COMM_NULL;
    memory[FOREIGN] = calloc(N, sizeof(int));
    int rank = size > 1; /* the one that has a GPU */
    none_loaded();
    loaded_late(rank);
    loaded_by_one(rank);
    errors(rank);
    bottom(rank);
    loaded_by_all(rank);
    MPI_Comm_free(&used);
    MPI_Finalize();
    return 0;
}
