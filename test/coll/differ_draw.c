/* SPDX-License-Identifier: BSD-3-Clause */

/* Draws one collective call: which one, on which communicator, of what, and what is wrong in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differ_call.h"

/* How often each is called; those that the library leads most often. */
static const int often[KINDS] = { 2, 14, 7, 7, 7, 7, 8, 8, 3, 2, 1, 12, 14, 2, 2, 2, 1, 2, 2 };

bool is_reduction(enum kind kind)
{
    return kind == CALL_Reduce || kind == CALL_Allreduce || kind == CALL_Reduce_scatter ||
           kind == CALL_Reduce_scatter_block || kind == CALL_Scan || kind == CALL_Exscan ||
           kind == CALL_Iallreduce;
}

bool is_rooted(enum kind kind)
{
    return kind == CALL_Bcast || kind == CALL_Gather || kind == CALL_Gatherv ||
           kind == CALL_Scatter || kind == CALL_Scatterv || kind == CALL_Reduce ||
           kind == CALL_Ibcast;
}

bool exchanges(enum kind kind)
{
    return kind == CALL_Alltoall || kind == CALL_Alltoallv || kind == CALL_Alltoallw;
}

bool has_blocks(enum kind kind)
{
    return !is_reduction(kind) && kind != CALL_Bcast && kind != CALL_Ibcast;
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

bool call_draw(struct context *x, struct draw *d, struct call *c)
{
    *c = (struct call){ .salt = draw_next(d) };
    c->kind = draw_kind(d, x->only);
    choose(x, c->kind, d);
    /* Only a quarter of the calls are on MPI_COMM_WORLD; the others on any communicator. */
    c->slot = &x->comms.slot[draw_percent(d, 25) ? 0 : draw_below(d, SLOTS)];
    if (!c->slot->used || (c->slot->remote && !for_inter(c->kind)))
        c->slot = &x->comms.slot[0];
    c->comm = c->slot->comm;
    /* With one rank alone MPICH 4.0 may hang in these, and Open MPI 4.1 differ from itself. */
    if (c->comm == MPI_COMM_NULL || (c->slot->size == 1 && !c->slot->remote && exchanges(c->kind)))
        return false;
    c->me = c->slot->me;
    c->size = c->slot->inside_b ? c->slot->remote : c->slot->size;
    c->others = !c->slot->remote ? c->size : c->slot->inside_b ? c->slot->size : c->slot->remote;
    draw_types(x, c, d);
    int share = has_blocks(c->kind)
                    ? (c->slot->size > c->slot->remote ? c->slot->size : c->slot->remote)
                    : 1;
    c->n = draw_length(d, x->max_bytes / (size_t)share, c->unit);
#ifdef MPICH_VERSION
    /* MPICH 4.0 over UCX ends with "message truncated" where a fragment ends within an element. */
    if (c->base == BASE_MIXED && c->n > 48)
        c->n = 48;
#endif
    c->in_place =
        draw_percent(d, 30) && !c->slot->remote && c->kind != CALL_Bcast && c->kind != CALL_Ibcast;
    if (c->kind == CALL_Reduce && c->size == 1)
        c->in_place = false; /* MPICH 4.0 does not survive it */
    draw_root(c, d);
    draw_wrong(c, d);
    return true;
}
