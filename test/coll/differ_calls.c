/* SPDX-License-Identifier: BSD-3-Clause */

/* One broadcast, drawn at random by differ_draw.c, is made twice: what it returns, what it writes
 * and what it leaves alone must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differ_call.h"

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

/* --- the call --------------------------------------------------------------------------------- */

typedef __typeof__(&MPI_Bcast) bcast_function;

static int run(bcast_function bcast, const struct call *c, const struct buffer *buffer)
{
    int count = c->wrong == WRONG_COUNT ? -1 : c->count;
    MPI_Datatype type = c->wrong == WRONG_TYPE ? MPI_DATATYPE_NULL : c->layout->type;
    return bcast(buffer->origin, count, type, c->root, c->comm);
}

/* Checks that the library does not touch a receive of the user that any message would match, nor a
 * collective operation that the user has begun. */
static int run_beside(const struct call *c, const struct buffer *buffer, int beside, int *strange)
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
    int code = run(MPI_Bcast, c, buffer);
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

static void compare(struct context *x, const struct call *c, const struct buffer *buffer,
                    struct draw *d)
{
    struct buffer plain = buffer_copy(buffer), tested = buffer_copy(buffer);
    int codes[2], handled[2];
    int strange = -1;
    bool plain_first = draw_percent(d, 50);
    int beside = draw_percent(d, 8) ? 1 + draw_below(d, 3) : 0;
    for (int i = 0; i < 2; i++) {
        bool is_plain = (i == 0) == plain_first;
        int before = comms_handler_calls;
        codes[!is_plain] =
            is_plain ? run(PMPI_Bcast, c, &plain) : run_beside(c, &tested, beside, &strange);
        handled[!is_plain] = comms_handler_calls - before;
    }
    x->comparisons++;
    if (class_of(codes[0]) != class_of(codes[1]))
        report(x, "error class", class_of(codes[0]), class_of(codes[1]));
    if (handled[0] != handled[1])
        report(x, "calls of the error handler", handled[0], handled[1]);
    if (c->wrong && codes[0] == MPI_SUCCESS && !handled[0]) /* MPICH 5.0: 0 after a handler */
        report(x, "a deliberate error was none", c->wrong, 0);
    if (strange >= 0)
        report(x, "a message not the user's was received; its tag", 77, strange);
    long at = codes[0] == MPI_SUCCESS ? first_difference(&plain, &tested) : -1;
    if (at >= 0)
        report(x, "bytes of the buffer differ; offset, and the library's byte", at,
               (unsigned char)tested.memory[at + MARGIN]);
    free(plain.memory);
    free(tested.memory);
}

/* --- a step ----------------------------------------------------------------------------------- */

static void describe(struct context *x, const struct call *c)
{
    snprintf(x->what, sizeof(x->what),
             "step %ld: Bcast on %s (%d%+d ranks, I am %d%s), root %d, %ld of base %d, %s x %d%s",
             x->step, c->slot->kind, c->slot->size, c->slot->remote, c->me,
             c->slot->inside_b ? " in B" : "", c->root, c->n, c->base, c->layout->name, c->count,
             c->wrong ? ", wrong on purpose" : "");
}

void call_step(struct context *x)
{
    struct draw draws = { draw_next(&x->draw) | 1 }, *d = &draws;
    struct call c;
    if (!call_draw(x, d, &c))
        return;
    struct buffer buffer = buffer_make(c.layout, c.count + 2);
    if (c.am_root)
        layout_fill(c.layout, buffer.origin, c.count, draw_hash(c.salt, (uint64_t)c.me, 0, 5), 0);
    describe(x, &c);
    if (x->verbose)
        fprintf(stderr, "%d: %s\n", x->comms.rank, x->what);
    compare(x, &c, &buffer, d);
    x->what[0] = 0;
    free(buffer.memory);
}
