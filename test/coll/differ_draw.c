/* SPDX-License-Identifier: BSD-3-Clause */

/* Draws one broadcast: on which communicator, of what, and what is wrong in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differ_call.h"

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

/* Draws the length, which is the same on all ranks, and this rank's description of it. */
static void draw_message(struct context *x, struct call *c, struct draw *d)
{
    static const int units[] = { 1, 2, 3, 6, 12 };
    uint64_t shared = draw_next(d), rank = (uint64_t)x->comms.rank;
    int unit = units[draw_below(d, 5)];
    c->base = (enum base)draw_below(d, BASES);
    c->layout = types_pick(&x->types, c->base, unit, draw_hash(shared, rank, 2, 0));
    c->n = draw_length(d, x->max_bytes, unit);
#ifdef MPICH_VERSION
    /* MPICH 4.0 over UCX ends with "message truncated" where a fragment ends within an element. */
    if (c->base == BASE_MIXED && c->n > 48)
        c->n = 48;
#endif
    c->count = (int)(c->n / c->layout->fold);
}

static void draw_wrong(struct call *c, struct draw *d)
{
    int which = 1 + draw_below(d, 3);
    if (!draw_percent(d, 10) || !c->slot->errors || c->slot->remote)
        return;
    c->wrong = (enum wrong)which;
    if (!c->count) /* an MPI library need not check it */
        c->count = 1;
    if (which == WRONG_ROOT)
        c->root = c->salt & 1 ? c->size + 3 : -99;
}

/* Sets one of the library's algorithms, or leaves the choice to the library. */
static void choose(struct context *x, struct draw *d)
{
    char list[2048], *rest = list, *word, *words[128];
    int n = 0, number = draw_below(d, 1 << 20);
    if (!x->choose || !x->algorithms)
        return;
    snprintf(list, sizeof(list), "%s", x->algorithms("bcast"));
    while (n < 128 && (word = strtok_r(rest, " ", &rest)))
        words[n++] = word;
    x->choose("bcast", number % (n + 1) == n ? NULL : words[number % (n + 1)]);
}

bool call_draw(struct context *x, struct draw *d, struct call *c)
{
    *c = (struct call){ .salt = draw_next(d) };
    choose(x, d);
    /* Only a quarter of the calls are on MPI_COMM_WORLD; the others on any communicator. */
    c->slot = &x->comms.slot[draw_percent(d, 25) ? 0 : draw_below(d, SLOTS)];
    if (!c->slot->used)
        c->slot = &x->comms.slot[0];
    c->comm = c->slot->comm;
    if (c->comm == MPI_COMM_NULL)
        return false;
    c->me = c->slot->me;
    c->size = c->slot->inside_b ? c->slot->remote : c->slot->size;
    draw_message(x, c, d);
    draw_root(c, d);
    draw_wrong(c, d);
    return true;
}
