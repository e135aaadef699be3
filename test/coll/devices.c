/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives with buffers in the memory of a GPU, which nobody may touch: runtime.c stands in for
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
enum call {
    BCAST,
    REDUCE,
    ALLREDUCE,
    ALLGATHER,
    ALLGATHERV,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    CALLS
};
enum kind { FOREIGN, DEVICE, MANAGED, PINNED, KINDS };

static MPI_Comm used;      /* the program's communicator */
static long passed[CALLS]; /* calls that reached the MPI library on it */
static long asked;         /* sums that the library has made on other communicators */
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
#define PASSED(which) passed[which] += comm == used

BETWEEN(Bcast, PASSED(BCAST), LIST(void *b, int n, MPI_Datatype t, int r, MPI_Comm comm),
        LIST(b, n, t, r, comm))
BETWEEN(Reduce, PASSED(REDUCE),
        LIST(const void *o, void *i, int n, MPI_Datatype t, MPI_Op p, int r, MPI_Comm comm),
        LIST(o, i, n, t, p, r, comm))
BETWEEN(Allreduce, (asked += comm != used, PASSED(ALLREDUCE)),
        LIST(const void *o, void *i, int n, MPI_Datatype t, MPI_Op p, MPI_Comm comm),
        LIST(o, i, n, t, p, comm))
BETWEEN(Allgather, PASSED(ALLGATHER),
        LIST(const void *o, int n, MPI_Datatype t, void *i, int m, MPI_Datatype u, MPI_Comm comm),
        LIST(o, n, t, i, m, u, comm))
BETWEEN(Allgatherv, PASSED(ALLGATHERV),
        LIST(const void *o, int n, MPI_Datatype t, void *i, const int m[], const int d[],
             MPI_Datatype u, MPI_Comm comm),
        LIST(o, n, t, i, m, d, u, comm))
BETWEEN(Gather, PASSED(GATHER),
        LIST(const void *o, int n, MPI_Datatype t, void *i, int m, MPI_Datatype u, int r,
             MPI_Comm comm),
        LIST(o, n, t, i, m, u, r, comm))
BETWEEN(Gatherv, PASSED(GATHERV),
        LIST(const void *o, int n, MPI_Datatype t, void *i, const int m[], const int d[],
             MPI_Datatype u, int r, MPI_Comm comm),
        LIST(o, n, t, i, m, d, u, r, comm))
BETWEEN(Scatter, PASSED(SCATTER),
        LIST(const void *o, int n, MPI_Datatype t, void *i, int m, MPI_Datatype u, int r,
             MPI_Comm comm),
        LIST(o, n, t, i, m, u, r, comm))
BETWEEN(Scatterv, PASSED(SCATTERV),
        LIST(const void *o, const int n[], const int d[], MPI_Datatype t, void *i, int m,
             MPI_Datatype u, int r, MPI_Comm comm),
        LIST(o, n, d, t, i, m, u, r, comm))
BETWEEN(Pack, (void)0,
        LIST(const void *b, int n, MPI_Datatype t, void *o, int s, int *p, MPI_Comm comm),
        LIST(b, n, t, o, s, p, comm))
BETWEEN(Unpack, (void)0,
        LIST(const void *b, int s, int *p, void *o, int n, MPI_Datatype t, MPI_Comm comm),
        LIST(b, s, p, o, n, t, comm))

/* --- one call --------------------------------------------------------------------------------- */

#define NOBODY (-1)
#define ALL (-2)

static struct {
    int *out, *in; /* [size * N] */
} memory[KINDS];
static int counts[1024], displs[1024];
static int empty = NOBODY; /* in the calls with a v, this rank has nothing */
static int turn;           /* makes the values of two calls differ */
static long wrong, calls;  /* on this rank, in this case */

/* Where the buffers of a call are: on this rank, or on ALL or NOBODY, they are of this kind. */
struct where {
    int rank;
    bool out, in, in_place;
    enum kind kind;
};

static bool is_scatter(enum call c)
{
    return c == SCATTER || c == SCATTERV;
}

static bool gathers(enum call c)
{
    return c == ALLGATHER || c == ALLGATHERV || c == GATHER || c == GATHERV;
}

static bool has_root(enum call c)
{
    return c == REDUCE || c == GATHER || c == GATHERV || is_scatter(c);
}

static int count_of(enum call c, int rank)
{
    bool is_v = c == ALLGATHERV || c == GATHERV || c == SCATTERV;
    return !is_v ? N : rank == empty ? 0 : N - rank;
}

static bool is_in_place(enum call c, const struct where *w, bool root)
{
    return w->in_place && c != BCAST && (root || !has_root(c));
}

/* Returns whether the call reads `out` of this rank, and whether it writes or reads `in`. */
static bool uses_out(enum call c, const struct where *w, int rank, bool root)
{
    return c != BCAST && (is_scatter(c) ? root : !is_in_place(c, w, root) && count_of(c, rank));
}

static bool uses_in(enum call c, const struct where *w, int rank, bool root)
{
    if (is_scatter(c))
        return !is_in_place(c, w, root) && count_of(c, rank);
    return root || !has_root(c);
}

static bool has_device(enum call c, const struct where *w, int root)
{
    bool any = false;
    for (int r = 0; r < size; r++)
        any =
            any || ((w->rank == ALL || w->rank == r) && ((w->out && uses_out(c, w, r, r == root)) ||
                                                         (w->in && uses_in(c, w, r, r == root))));
    return any && w->kind != PINNED;
}

static int value(int rank, int i)
{
    return turn * 7 + rank * 1009 + i;
}

static void fill(int *to, int rank)
{
    for (int i = 0; i < N; i++)
        to[i] = value(rank, i);
}

static void prepare(enum call c, const struct where *w, int *out, int *in, int root)
{
    memset(in, 0xff, (size_t)size * N * sizeof(*in));
    for (int r = 0; r < size; r++) {
        counts[r] = count_of(c, r);
        displs[r] = r * N;
        if (is_scatter(c) && me == root)
            fill(out + r * N, r);
    }
    if (c == BCAST && me == root)
        fill(in, root);
    else if (!is_scatter(c) && c != BCAST)
        fill(!is_in_place(c, w, me == root) ? out : gathers(c) ? in + me * N : in, me);
}

static long count_wrong(enum call c, const struct where *w, const int *in, int root)
{
    long found = 0;
    if (!uses_in(c, w, me, me == root))
        return 0;
    if (gathers(c)) {
        for (int r = 0; r < size; r++)
            for (int i = 0; i < count_of(c, r); i++)
                found += in[r * N + i] != value(r, i);
        return found;
    }
    for (int i = 0; i < count_of(c, me); i++) {
        int sum = 0;
        for (int r = 0; r < size; r++)
            sum += value(r, i);
        found += in[i] != (c == BCAST ? value(root, i) : is_scatter(c) ? value(me, i) : sum);
    }
    return found;
}

static void call(enum call c, const struct where *w, int *out, int *in, int root)
{
    bool here = is_in_place(c, w, me == root);
    void *o = here && !is_scatter(c) ? MPI_IN_PLACE : out;
    void *i = here && is_scatter(c) ? MPI_IN_PLACE : in;
    int n = count_of(c, me);
    switch (c) {
    case BCAST: MPI_Bcast(i, N, MPI_INT, root, used); break;
    case REDUCE: MPI_Reduce(o, i, N, MPI_INT, MPI_SUM, root, used); break;
    case ALLREDUCE: MPI_Allreduce(o, i, N, MPI_INT, MPI_SUM, used); break;
    case ALLGATHER: MPI_Allgather(o, N, MPI_INT, i, N, MPI_INT, used); break;
    case ALLGATHERV: MPI_Allgatherv(o, n, MPI_INT, i, counts, displs, MPI_INT, used); break;
    case GATHER: MPI_Gather(o, N, MPI_INT, i, N, MPI_INT, root, used); break;
    case GATHERV: MPI_Gatherv(o, n, MPI_INT, i, counts, displs, MPI_INT, root, used); break;
    case SCATTER: MPI_Scatter(o, N, MPI_INT, i, N, MPI_INT, root, used); break;
    case SCATTERV: MPI_Scatterv(o, counts, displs, MPI_INT, i, n, MPI_INT, root, used); break;
    default: break;
    }
}

/* Makes one call, and counts what is wrong: the results, and whether it was passed on. */
static void make(enum call c, const struct where *w, int root, bool passes)
{
    bool there = w->rank == ALL || w->rank == me;
    int *out = memory[there && w->out ? w->kind : FOREIGN].out;
    int *in = memory[there && w->in ? w->kind : FOREIGN].in;
    turn++;
    set_open(true);
    prepare(c, w, out, in, root);
    set_open(false);
    long before = passed[c];
    call(c, w, out, in, root);
    wrong += passed[c] - before != passes;
    calls++;
    set_open(true);
    wrong += count_wrong(c, w, in, root);
    set_open(false);
}

static const struct where host = { .rank = NOBODY };

static void make_host(enum call c, bool passes)
{
    make(c, &host, turn % size, passes);
}

/* --- cases ------------------------------------------------------------------------------------ */

/* One collective with buffers of this kind on this rank, each time after one with buffers of the
 * host. `passes`: calls with a GPU's buffer are passed on. `uses`: a set of their uses, which are
 * 1 for `out`, 2 for `in`, 4 for in place. */
static void all_buffers(enum call c, int rank, enum kind kind, bool passes, unsigned uses)
{
    int step = size > 3 ? 3 : 1;
    for (int use = 1; use < 8; use++) {
        if (!(uses >> use & 1))
            continue;
        struct where w = { rank, use & 1, use & 2, use & 4, kind };
        make_host(c, false);
        for (int root = 0; root < size; root += step)
            make(c, &w, root, passes && has_device(c, &w, root));
    }
}

#define ANY_USE ~0U
#define SOME_USE (1 << 3 | 1 << 6)

static void all_calls(int rank, enum kind kind, bool passes, unsigned uses)
{
    for (int c = 0; c < CALLS; c++)
        all_buffers(c, rank, kind, passes, uses);
}

/* The same by each algorithm of the library, in one piece and in several. */
static void all_algorithms(int rank)
{
    static const char *const names[CALLS] = { "bcast",     "reduce",     "allreduce",
                                              "allgather", "allgatherv", "gather",
                                              "gatherv",   "scatter",    "scatterv" };
    const char *(*algorithms)(const char *collective);
    int (*choose)(const char *collective, const char *algorithm);
    void *found[2] = { next("nuioa_coll_algorithms"), next("nuioa_coll_choose") };
    memcpy(&algorithms, &found[0], sizeof(algorithms));
    memcpy(&choose, &found[1], sizeof(choose));
    for (int c = 0; c < CALLS; c++) {
        char list[1024], piece[64], *save;
        snprintf(list, sizeof(list), "%s", algorithms(names[c]));
        for (char *word = strtok_r(list, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
            if (!strcmp(word, "pass"))
                continue;
            wrong += choose(names[c], word) != 0;
            all_buffers(c, rank, DEVICE, false, SOME_USE);
            snprintf(piece, sizeof(piece), "%s:5000", word);
            if (!choose(names[c], piece))
                all_buffers(c, rank, DEVICE, false, SOME_USE);
        }
        choose(names[c], NULL);
    }
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
    call(BCAST, &host, memory[0].out, memory[0].in, 0);
    for (int c = 0; c < CALLS; c++)
        make_host(c, false);
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
    for (int kind = DEVICE; kind < KINDS; kind++) {
        memory[kind].out = allocate((size_t)size * N * sizeof(int), kind);
        memory[kind].in = allocate((size_t)size * N * sizeof(int), kind);
    }
    memcpy(&open_memory, &found[1], sizeof(open_memory));
    stand_in_error = dlsym(runtime, "stand_in_error");
    stand_in_last_error = dlsym(runtime, "stand_in_last_error");
}

static void none_loaded(void)
{
    renew();
    long before = asked;
    for (int c = 0; c < CALLS; c++)
        make_host(c, false);
    wrong += asked != before;
    report("none loaded: led, and nobody asks");
    if (me == size - 1)
        setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    renew();
    before = asked;
    make_host(BCAST, false);
    make_host(SCATTER, false);
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
    all_calls(rank, DEVICE, false, ANY_USE);
    report("loaded by one rank when it is too late to ask: led, and nobody touches it");
}

static void loaded_by_one(int rank)
{
    renew();
    all_calls(rank, DEVICE, true, ANY_USE);
    report("loaded by one rank: passed on by all");
    all_calls(rank, MANAGED, true, SOME_USE);
    report("managed memory: passed on by all");
    all_calls(rank, PINNED, false, SOME_USE);
    report("pinned memory of the host: led");
    struct where w = { .rank = rank, .out = true, .kind = DEVICE };
    empty = rank;
    make(GATHERV, &w, 0, false);
    make(ALLGATHERV, &w, 0, false);
    empty = NOBODY;
    report("buffers of no bytes: led");
}

static void errors(int rank)
{
    if (me == rank)
        *stand_in_error = 700;
    for (int c = 0; c < DEVICE_CALLS - 1; c++)
        make_host(c, true);
    if (me == rank)
        *stand_in_error = 0;
    make_host(BCAST, false);
    report("an error of the runtime: passed on by all");
    if (me == rank)
        wrong += *stand_in_last_error != 0;
    if (me == rank)
        *stand_in_last_error = 9;
    make_host(BCAST, false);
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
    fill(memory[0].in, 0);
    set_open(false);
    MPI_Get_address(memory[0].in, &at);
    MPI_Type_create_hindexed(1, (int[]){ N }, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    long before = passed[BCAST];
    MPI_Bcast(me == rank ? MPI_BOTTOM : memory[0].in, me == rank ? 1 : N,
              me == rank ? type : MPI_INT, 0, used);
    MPI_Type_free(&type);
    wrong += passed[BCAST] - before != 1;
    calls++;
    for (int i = 0; i < N; i++)
        wrong += memory[0].in[i] != value(0, i);
    report("MPI_BOTTOM: passed on by all");
}

static void loaded_by_all(int rank)
{
    if (me != rank)
        load();
    renew();
    all_calls(ALL, DEVICE, true, ANY_USE);
    report("loaded by all ranks: passed on by all");
    struct where w = { .rank = rank, .in = true, .kind = DEVICE };
    make_host(BCAST, false);
    for (int i = 0; i < DEVICE_CALLS; i++)
        make(BCAST, &w, 0, true);
    long before = asked;
    make_host(BCAST, true);
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
    memory[0].out = calloc((size_t)size * N, sizeof(int));
    memory[0].in = calloc((size_t)size * N, sizeof(int));
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
