/* SPDX-License-Identifier: BSD-3-Clause */

/* One collective call with everything about it drawn at random, made twice: what it returns, what
 * it writes and what it leaves alone must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differ.h"

/* clang-format off */
#define CALLS(X) \
    X(Barrier) X(Bcast) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) \
    X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter) \
    X(Reduce_scatter_block) X(Scan) X(Exscan) X(Ibcast) X(Iallreduce)
#define TAG(name) CALL_##name,
#define TEXT(name) #name,
#define MEMBER(name) __typeof__(&MPI_##name) name;
#define TESTED(name) .name = MPI_##name,
#define PLAIN(name) .name = PMPI_##name,

enum kind { CALLS(TAG) KINDS };
const char *const call_names[] = { CALLS(TEXT) NULL };
struct api { CALLS(MEMBER) };
static const struct api tested = { CALLS(TESTED) }, plain = { CALLS(PLAIN) };
/* clang-format on */

/* How often each is called; those that the library leads most often. */
static const int often[KINDS] = { 2, 14, 7, 7, 7, 7, 8, 8, 3, 2, 1, 12, 14, 2, 2, 2, 1, 2, 2 };

enum wrong { RIGHT, WRONG_COUNT, WRONG_ROOT, WRONG_TYPE, WRONG_OP };

struct call {
    enum kind kind;
    const struct slot *slot;
    MPI_Comm comm;
    int size, others, me; /* my group, the group that I exchange with, my rank */
    int root;             /* as passed */
    bool am_root, in_place;
    enum wrong wrong;
    enum base base;
    int unit;      /* all counts of base elements are multiples */
    long n;        /* base elements of a block */
    uint64_t salt; /* for counts that differ from rank to rank */
    const struct operation *op;
    const struct layout *send, *receive;
    int send_count, receive_count;
    int send_counts[RANKS_MAX], receive_counts[RANKS_MAX];
    int send_at[RANKS_MAX], receive_at[RANKS_MAX];
    MPI_Datatype send_types[RANKS_MAX], receive_types[RANKS_MAX];
};

/* --- memory ----------------------------------------------------------------------------------- */

#define MARGIN 128
#define CANARY 0xa5

struct buffer {
    char *memory, *origin;
    size_t bytes;
};

static struct buffer buffer_make(const struct layout *l, long elements)
{
    struct buffer a;
    a.bytes = (size_t)elements * (size_t)l->extent + 2 * MARGIN;
    a.memory = malloc(a.bytes);
    if (!a.memory)
        abort();
    memset(a.memory, CANARY, a.bytes);
    a.origin = a.memory + MARGIN - l->lower;
    return a;
}

static struct buffer buffer_copy(const struct buffer *from)
{
    struct buffer a = { malloc(from->bytes), NULL, from->bytes };
    if (!a.memory)
        abort();
    memcpy(a.memory, from->memory, a.bytes);
    a.origin = a.memory + (from->origin - from->memory);
    return a;
}

/* --- what is called --------------------------------------------------------------------------- */

static bool is_reduction(enum kind kind)
{
    return kind == CALL_Reduce || kind == CALL_Allreduce || kind == CALL_Reduce_scatter ||
           kind == CALL_Reduce_scatter_block || kind == CALL_Scan || kind == CALL_Exscan ||
           kind == CALL_Iallreduce;
}

static bool is_rooted(enum kind kind)
{
    return kind == CALL_Bcast || kind == CALL_Gather || kind == CALL_Gatherv ||
           kind == CALL_Scatter || kind == CALL_Scatterv || kind == CALL_Reduce ||
           kind == CALL_Ibcast;
}

static bool exchanges(enum kind kind)
{
    return kind == CALL_Alltoall || kind == CALL_Alltoallv || kind == CALL_Alltoallw;
}

/* Inter-communicators are not used for collectives whose counts differ, because Open MPI 4.1 itself
 * fails in some; nor for Gather and Scatter, where the groups of MPICH 4.0 may choose different
 * algorithms. */
static bool for_inter(enum kind kind)
{
    return kind == CALL_Barrier || kind == CALL_Bcast || kind == CALL_Allgather ||
           kind == CALL_Alltoall || kind == CALL_Reduce || kind == CALL_Allreduce;
}

static enum kind draw_kind(struct draw *d, const char *only)
{
    int all = 0, at;
    for (int i = 0; i < KINDS; i++)
        all += often[i];
    at = draw_below(d, all);
    for (int i = 0; i < KINDS; i++) {
        if (only && !strcmp(only, call_names[i]))
            return (enum kind)i;
        at -= often[i];
        if (!only && at < 0)
            return (enum kind)i;
    }
    return CALL_Barrier;
}

static long draw_length(struct draw *d, size_t bytes_max, int unit)
{
    int class_id = draw_below(d, 100);
    uint64_t number = draw_next(d);
    long most = (long)(bytes_max / 16 / (size_t)unit);
    long n = class_id < 8    ? 0
             : class_id < 18 ? 1
             : class_id < 60 ? (long)(number % 16)
             : class_id < 92 ? (long)(number % 512)
                             : (long)(number % (uint64_t)(most + 1));
    return (n > most ? most : n) * unit;
}

/* Base elements of the block between these two; symmetric when a place is its own source. */
static long block(const struct call *c, int from, int to)
{
    if (c->in_place && from > to) {
        int swap = from;
        from = to;
        to = swap;
    }
    uint64_t number = draw_hash(c->salt, (uint64_t)from, (uint64_t)to, 3);
    return number % 5 == 0 ? 0 : (long)(number >> 8) % (c->n / c->unit + 1) * c->unit;
}

/* Counts in elements of the layout, and places with gaps, in the order of ranks or against it. */
static long lay_out(const struct call *c, const struct layout *l, const long *n, int blocks,
                    int *counts, int *at)
{
    long end = 0;
    bool backwards = c->salt & 4;
    for (int k = 0; k < blocks; k++) {
        int i = backwards ? blocks - 1 - k : k;
        counts[i] = (int)(n[i] / l->fold);
        end += (long)(draw_hash(c->salt, (uint64_t)i, 0, 9) % 3);
        at[i] = (int)end;
        end += counts[i];
    }
    return end;
}

/* --- data ------------------------------------------------------------------------------------- */

static uint64_t my_data(const struct call *c)
{
    return draw_hash(c->salt, (uint64_t)c->me, c->slot->inside_b, 5);
}

static void fill(const struct call *c, struct buffer *a, const struct layout *l, long at, int count)
{
    layout_fill(l, a->origin + at * l->extent, count, my_data(c), (uint64_t)at);
}

/* Blocks of equal or of different lengths on one side or on both, whoever is their root. */
static void prepare_blocks(struct call *c, struct buffer *send, struct buffer *receive)
{
    enum kind k = c->kind;
    bool all_send = exchanges(k);
    bool many_out = all_send || k == CALL_Scatter || k == CALL_Scatterv;
    bool many_in = all_send || k == CALL_Gather || k == CALL_Gatherv || k == CALL_Allgather ||
                   k == CALL_Allgatherv;
    bool varied = k == CALL_Gatherv || k == CALL_Scatterv || k == CALL_Allgatherv ||
                  k == CALL_Alltoallv || k == CALL_Alltoallw;
    long out[RANKS_MAX], in[RANKS_MAX], out_end, in_end;
    int blocks_out = many_out ? c->others : 1, blocks_in = many_in ? c->others : 1;
    for (int i = 0; i < blocks_out; i++)
        out[i] = !varied    ? c->n
                 : all_send ? block(c, c->me, i)
                            : block(c, many_out ? i : c->me, c->kind);
    for (int i = 0; i < blocks_in; i++)
        in[i] = !varied    ? c->n
                : all_send ? block(c, i, c->me)
                           : block(c, many_in ? i : c->me, c->kind);
    out_end = lay_out(c, c->send, out, blocks_out, c->send_counts, c->send_at);
    in_end = lay_out(c, c->receive, in, blocks_in, c->receive_counts, c->receive_at);
    c->send_count = (int)((varied ? out[0] : c->n) / c->send->fold);
    c->receive_count = (int)((varied ? in[0] : c->n) / c->receive->fold);
    if (!varied) {
        out_end = (long)c->send_count * blocks_out;
        in_end = (long)c->receive_count * blocks_in;
    }
    *send = buffer_make(c->send, out_end + 4);
    *receive = buffer_make(c->receive, in_end + 4);
    fill(c, send, c->send, 0, (int)out_end);
    if (c->in_place)
        fill(c, receive, c->receive, 0, (int)in_end);
    for (int i = 0; i < RANKS_MAX; i++) {
        c->send_types[i] = c->send->type;
        c->receive_types[i] = c->receive->type;
    }
    if (k == CALL_Alltoallw)
        for (int i = 0; i < c->others; i++) {
            c->send_at[i] *= (int)c->send->extent;
            c->receive_at[i] *= (int)c->receive->extent;
        }
}

/* Prepares a vector of n elements on each side. */
static void prepare_vectors(struct call *c, struct buffer *send, struct buffer *receive)
{
    long send_n = c->n, receive_n = c->n;
    if (c->kind == CALL_Reduce_scatter || c->kind == CALL_Reduce_scatter_block) {
        send_n = 0;
        for (int i = 0; i < c->size; i++) {
            long n = c->kind == CALL_Reduce_scatter ? block(c, i, 0) : c->n;
            c->receive_counts[i] = (int)(n / c->send->fold);
            send_n += n;
        }
        receive_n = (long)c->receive_counts[c->me] * c->send->fold;
    }
    c->send_count = (int)(send_n / c->send->fold);
    c->receive_count = (int)(receive_n / c->receive->fold);
    *send = buffer_make(c->send, c->send_count + 2);
    *receive = buffer_make(c->receive, (c->in_place ? c->send_count : c->receive_count) + 2);
    fill(c, send, c->send, 0, c->send_count);
    if (c->in_place)
        fill(c, receive, c->receive, 0, c->send_count);
}

/* --- the call --------------------------------------------------------------------------------- */

static int run(const struct api *f, const struct call *c, const struct buffer *send,
               const struct buffer *receive)
{
    const void *s = send->origin;
    void *r = receive->origin;
    MPI_Datatype st = c->send->type, rt = c->receive->type;
    MPI_Op op = c->op ? c->op->op : MPI_OP_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm = c->comm;
    int sn = c->send_count, rn = c->receive_count, code;
    bool at_root = c->in_place && (c->am_root || !is_rooted(c->kind));
    bool scatters = c->kind == CALL_Scatter || c->kind == CALL_Scatterv;
    if (at_root && !scatters)
        s = MPI_IN_PLACE;
    if (at_root && scatters)
        r = MPI_IN_PLACE;
    if (c->wrong == WRONG_COUNT)
        sn = rn = -1;
    if (c->wrong == WRONG_TYPE)
        st = rt = MPI_DATATYPE_NULL;
    if (c->wrong == WRONG_OP)
        op = MPI_OP_NULL;
    switch (c->kind) {
    case CALL_Barrier: return f->Barrier(comm);
    case CALL_Bcast: return f->Bcast(r, rn, rt, c->root, comm);
    case CALL_Gather: return f->Gather(s, sn, st, r, rn, rt, c->root, comm);
    case CALL_Gatherv:
        return f->Gatherv(s, sn, st, r, c->receive_counts, c->receive_at, rt, c->root, comm);
    case CALL_Scatter: return f->Scatter(s, sn, st, r, rn, rt, c->root, comm);
    case CALL_Scatterv:
        return f->Scatterv(s, c->send_counts, c->send_at, st, r, rn, rt, c->root, comm);
    case CALL_Allgather: return f->Allgather(s, sn, st, r, rn, rt, comm);
    case CALL_Allgatherv:
        return f->Allgatherv(s, sn, st, r, c->receive_counts, c->receive_at, rt, comm);
    case CALL_Alltoall: return f->Alltoall(s, sn, st, r, rn, rt, comm);
    case CALL_Alltoallv:
        return f->Alltoallv(s, c->send_counts, c->send_at, st, r, c->receive_counts, c->receive_at,
                            rt, comm);
    case CALL_Alltoallw:
        return f->Alltoallw(s, c->send_counts, c->send_at, c->send_types, r, c->receive_counts,
                            c->receive_at, c->receive_types, comm);
    case CALL_Reduce: return f->Reduce(s, r, sn, st, op, c->root, comm);
    case CALL_Allreduce: return f->Allreduce(s, r, sn, st, op, comm);
    case CALL_Reduce_scatter: return f->Reduce_scatter(s, r, c->receive_counts, st, op, comm);
    case CALL_Reduce_scatter_block: return f->Reduce_scatter_block(s, r, rn, st, op, comm);
    case CALL_Scan: return f->Scan(s, r, sn, st, op, comm);
    case CALL_Exscan: return f->Exscan(s, r, sn, st, op, comm);
    case CALL_Ibcast: code = f->Ibcast(r, rn, rt, c->root, comm, &request); break;
    default: code = f->Iallreduce(s, r, sn, st, op, comm, &request);
    }
    return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/* Checks that the library does not touch a receive of the user that any message would match, nor a
 * collective operation that the user has begun. */
static int run_beside(const struct call *c, const struct buffer *send, const struct buffer *receive,
                      int beside, int *strange)
{
    MPI_Status status;
    MPI_Request request[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    int got = -1, sent = 1000 + c->me;
    if (c->slot->remote || c->wrong)
        beside = 0;
    if (beside & 1)
        PMPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &request[0]);
    if (beside & 2)
        PMPI_Ibarrier(c->comm, &request[1]);
    int code = run(&tested, c, send, receive);
    if (beside & 1)
        PMPI_Isend(&sent, 1, MPI_INT, (c->me + 1) % c->size, 77, c->comm, &request[2]);
    for (int i = 2; i >= 0; i--)
        PMPI_Wait(&request[i], &status);
    *strange = beside & 1 && got != 1000 + (c->me + c->size - 1) % c->size ? status.MPI_TAG : -1;
    return code;
}

static int class_of(int code)
{
    int class_id = code;
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class_id);
    return class_id;
}

/* --- the comparison --------------------------------------------------------------------------- */

static long first_difference(const struct buffer *a, const struct buffer *b)
{
    if (!memcmp(a->memory, b->memory, a->bytes))
        return -1;
    for (size_t i = 0; i < a->bytes; i++)
        if (a->memory[i] != b->memory[i])
            return (long)i - MARGIN;
    return -1;
}

static void report(struct context *x, const char *what, long a, long b)
{
    if (x->differences++ < 5)
        fprintf(stderr, "differ: rank %d: %s: %s: plain %ld, library %ld\n", x->comms.rank, x->what,
                what, a, b);
}

static void compare(struct context *x, const struct call *c, const struct buffer *send,
                    const struct buffer *receive, struct draw *d)
{
    struct buffer ps = buffer_copy(send), pr = buffer_copy(receive);
    struct buffer ts = buffer_copy(send), tr = buffer_copy(receive);
    int codes[2], handled[2];
    int strange = -1;
    bool plain_first = draw_percent(d, 50);
    int beside = draw_percent(d, 8) ? 1 + draw_below(d, 3) : 0;
    for (int i = 0; i < 2; i++) {
        bool is_plain = (i == 0) == plain_first;
        int before = comms_handler_calls;
        codes[!is_plain] =
            is_plain ? run(&plain, c, &ps, &pr) : run_beside(c, &ts, &tr, beside, &strange);
        handled[!is_plain] = comms_handler_calls - before;
    }
    x->comparisons++;
    if (class_of(codes[0]) != class_of(codes[1]))
        report(x, "error class", class_of(codes[0]), class_of(codes[1]));
    if (handled[0] != handled[1])
        report(x, "calls of the error handler", handled[0], handled[1]);
    if (c->wrong && codes[0] == MPI_SUCCESS)
        report(x, "a deliberate error was none", c->wrong, 0);
    if (strange >= 0)
        report(x, "a message not the user's was received; its tag", 77, strange);
    long at = codes[0] == MPI_SUCCESS ? first_difference(&pr, &tr) : -1;
    if (at >= 0)
        report(x, "received bytes differ; offset, and the library's byte", at,
               (unsigned char)tr.memory[at + MARGIN]);
    at = first_difference(send, &ts);
    if (at >= 0)
        report(x, "the send buffer was written to, at", first_difference(send, &ps), at);
    free(ps.memory);
    free(pr.memory);
    free(ts.memory);
    free(tr.memory);
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Rank numbers for a root: in an inter-communicator the root is in group A, the others in B. */
static void draw_root(struct call *c, struct draw *d)
{
    int number = draw_below(d, 1 << 20);
    if (!c->slot->remote) {
        c->root = number % c->size;
        c->am_root = c->root == c->me;
        return;
    }
    c->root = number % c->slot->size;
    c->am_root = !c->slot->inside_b && c->root == c->me;
    if (!c->slot->inside_b)
        c->root = c->am_root ? MPI_ROOT : MPI_PROC_NULL;
}

/* Between two groups no operation of the user is drawn: MPICH 4.0 itself fails with some. */
static const struct operation *draw_operation(const struct operations *all, struct draw *d,
                                              bool inter, enum base *base)
{
    const struct operation *op = &all->of[draw_below(d, OPERATIONS)];
    if (inter && op->user)
        op = &all->of[0];
    int number = draw_below(d, 1 << 20) % BASES;
    while (!(op->bases & 1u << number))
        number = (number + 1) % BASES;
    *base = (enum base)number;
    return op;
}

static void draw_types(struct context *x, struct call *c, struct draw *d)
{
    static const int units[] = { 1, 2, 3, 6, 12 };
    uint64_t shared = draw_next(d), rank = (uint64_t)x->comms.rank;
    c->unit = units[draw_below(d, 5)];
    c->base = (enum base)draw_below(d, BASES);
    int fold = 1 + (int)(shared >> 20) % 3;
    if (c->kind == CALL_Allgatherv) {
        /* Types of one size: Open MPI's coll/tuned chooses the algorithm by the size of the type
         * that is sent times the counts that are received, and ranks that differ in it wait for
         * ever. */
        fold = c->unit % fold ? 1 : fold;
        c->send = types_fold(&x->types, c->base, fold, draw_hash(shared, rank, 1, 0));
        c->receive = types_fold(&x->types, c->base, fold, draw_hash(shared, rank, 2, 0));
        return;
    }
    if (!is_reduction(c->kind)) {
        c->send = types_pick(&x->types, c->base, c->unit, draw_hash(shared, rank, 1, 0));
        c->receive = types_pick(&x->types, c->base, c->unit, draw_hash(shared, rank, 2, 0));
        return;
    }
    c->op = draw_operation(&x->operations, d, c->slot->remote, &c->base);
    if (c->op->user)
        c->unit = 2;
    static const int pairs[] = { 3, 4, 6, 3 };
    int pair = pairs[shared % 4];
#ifdef MPICH_VERSION
    if (c->kind != CALL_Reduce && c->kind != CALL_Allreduce)
        pair = 3; /* with gaps MPICH 4.0 writes beyond its own buffers */
#else
    if (c->kind == CALL_Allreduce && pair == 6)
        pair = 3; /* in a ring Open MPI 4.1 writes before its own */
#endif
    c->send = c->receive = &x->types.of[c->base][c->op->user ? pair : 0];
}

static void draw_wrong(struct call *c, struct draw *d)
{
    int which = 1 + draw_below(d, 4);
    bool wanted = draw_percent(d, 10) && c->slot->errors && !c->slot->remote;
    bool varied = c->kind == CALL_Gatherv || c->kind == CALL_Scatterv ||
                  c->kind == CALL_Allgatherv || c->kind == CALL_Alltoallv ||
                  c->kind == CALL_Reduce_scatter;
    if (!wanted || c->kind == CALL_Barrier || c->kind == CALL_Alltoallw || varied)
        return;
    if (which == WRONG_ROOT && !is_rooted(c->kind))
        which = WRONG_COUNT;
    if (which == WRONG_OP && !is_reduction(c->kind))
        which = WRONG_TYPE;
#ifdef MPICH_VERSION
    if (which == WRONG_COUNT && is_reduction(c->kind)) /* MPICH 4.0 does not check it */
        which = WRONG_OP;
#endif
    if (c->n == 0) /* an MPI library need not check it */
        c->n = c->unit;
    c->wrong = (enum wrong)which;
    if (which == WRONG_ROOT)
        c->root = c->salt & 1 ? c->size + 3 : -99;
}

static void describe(struct context *x, const struct call *c)
{
    snprintf(x->what, sizeof(x->what),
             "step %ld: %s on %s (%d%+d ranks, I am %d%s), root %d, %ld of base %d, %s x %d -> "
             "%s x %d%s%s%s%s",
             x->step, call_names[c->kind], c->slot->kind, c->slot->size, c->slot->remote, c->me,
             c->slot->inside_b ? " in B" : "", c->root, c->n, c->base, c->send->name, c->send_count,
             c->receive->name, c->receive_count, c->in_place ? ", in place" : "", c->op ? ", " : "",
             c->op ? c->op->name : "", c->wrong ? ", wrong on purpose" : "");
}

/* Sets one of the library's algorithms, or leaves the choice to the library. */
static void choose(struct context *x, enum kind kind, struct draw *d)
{
    char name[32], list[2048], *rest = list, *word, *words[128];
    int n = 0, number = draw_below(d, 1 << 20);
    if (!x->choose || !x->algorithms)
        return;
    snprintf(name, sizeof(name), "%s", call_names[kind]);
    name[0] = (char)(name[0] + ('a' - 'A'));
    const char *all = x->algorithms(name);
    if (!all)
        return;
    snprintf(list, sizeof(list), "%s", all);
    while (n < 128 && (word = strtok_r(rest, " ", &rest)))
        words[n++] = word;
    x->choose(name, number % (n + 1) == n ? NULL : words[number % (n + 1)]);
}

void call_step(struct context *x)
{
    struct draw draws = { draw_next(&x->draw) | 1 }, *d = &draws;
    struct buffer send, receive;
    struct call c = { .salt = draw_next(d) };
    c.kind = draw_kind(d, x->only);
    choose(x, c.kind, d);
    /* Only a quarter of the calls are on MPI_COMM_WORLD; the others on any communicator. */
    c.slot = &x->comms.slot[draw_percent(d, 25) ? 0 : draw_below(d, SLOTS)];
    if (!c.slot->used || (c.slot->remote && !for_inter(c.kind)))
        c.slot = &x->comms.slot[0];
    c.comm = c.slot->comm;
    /* With one rank alone MPICH 4.0 may hang in these, and Open MPI 4.1 differ from itself. */
    if (c.comm == MPI_COMM_NULL || (c.slot->size == 1 && !c.slot->remote && exchanges(c.kind)))
        return;
    c.me = c.slot->me;
    c.size = c.slot->inside_b ? c.slot->remote : c.slot->size;
    c.others = !c.slot->remote ? c.size : c.slot->inside_b ? c.slot->size : c.slot->remote;
    draw_types(x, &c, d);
    bool blocks = !is_reduction(c.kind) && c.kind != CALL_Bcast && c.kind != CALL_Ibcast;
    int share = blocks ? (c.slot->size > c.slot->remote ? c.slot->size : c.slot->remote) : 1;
    c.n = draw_length(d, x->max_bytes / (size_t)share, c.unit);
#ifdef MPICH_VERSION
    /* MPICH 4.0 over UCX ends with "message truncated" where a fragment ends within an element. */
    if (c.base == BASE_MIXED && c.n > 48)
        c.n = 48;
#endif
    c.in_place =
        draw_percent(d, 30) && !c.slot->remote && c.kind != CALL_Bcast && c.kind != CALL_Ibcast;
    if (c.kind == CALL_Reduce && c.size == 1)
        c.in_place = false; /* MPICH 4.0 does not survive it */
    draw_root(&c, d);
    draw_wrong(&c, d);
    if (blocks)
        prepare_blocks(&c, &send, &receive);
    else
        prepare_vectors(&c, &send, &receive);
    if ((c.kind == CALL_Bcast || c.kind == CALL_Ibcast) && c.am_root)
        fill(&c, &receive, c.receive, 0, c.receive_count);
    describe(x, &c);
    if (x->verbose)
        fprintf(stderr, "%d: %s\n", x->comms.rank, x->what);
    x->counts[c.kind]++;
    compare(x, &c, &send, &receive, d);
    x->what[0] = 0;
    free(send.memory);
    free(receive.memory);
}
