/* SPDX-License-Identifier: BSD-3-Clause */

/* One collective call, drawn at random by differ_draw.c, is made twice: what it returns, what
 * it writes and what it leaves alone must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differ_call.h"

/* clang-format off */
#define TEXT(name) #name,
#define MEMBER(name) __typeof__(&MPI_##name) name;
#define TESTED(name) .name = MPI_##name,
#define PLAIN(name) .name = PMPI_##name,

const char *const call_names[] = { CALLS(TEXT) NULL };
struct api { CALLS(MEMBER) };
static const struct api tested = { CALLS(TESTED) }, plain = { CALLS(PLAIN) };
/* clang-format on */

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

/* --- blocks ----------------------------------------------------------------------------------- */

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

/* --- a step ----------------------------------------------------------------------------------- */

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

void call_step(struct context *x)
{
    struct draw draws = { draw_next(&x->draw) | 1 }, *d = &draws;
    struct buffer send, receive;
    struct call c;
    if (!call_draw(x, d, &c))
        return;
    if (has_blocks(c.kind))
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
