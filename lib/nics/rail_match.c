/* SPDX-License-Identifier: BSD-3-Clause */
#include "nics/rail_match.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/arena.h"

/* The limit on the work, in looks at whether a user may use a machine. */
#define STEPS_MAX 2000000

/* Loads that differ by less are equal: they are sums in different orders. */
#define EQUAL (1 - 1e-9)

/* The search for one alternating path. A machine is entered by one user only. */
struct search {
    struct nuioa_rail_match *match;
    uint8_t least;     /* what `fit` must be */
    double *peak;      /* [machines]: the highest load on the path before it; INFINITY: no path */
    uint32_t *entered; /* [machines]: the user that would come to it */
    bool *done;        /* [machines] */
    double lightest;   /* the least weight of the users so far */
    uint32_t steps;    /* work done so far, for all users */
};

static bool may_use(const struct search *s, uint32_t user, uint32_t machine)
{
    return s->match->fit[(size_t)user * s->match->machine_count + machine] >= s->least;
}

static double load_with(const struct nuioa_rail_match *m, uint32_t machine, double more)
{
    return (m->load[machine] + more) / m->rate[machine];
}

/* Returns the machine that is least loaded with this user, of those that it may use; of several the
 * one that it prefers. */
static uint32_t direct(const struct search *s, uint32_t user)
{
    const struct nuioa_rail_match *m = s->match;
    uint32_t best = NUIOA_NO_MACHINE;
    uint32_t preferred = m->preferred ? m->preferred[user] : NUIOA_NO_MACHINE;
    for (uint32_t k = 0; k < m->machine_count; k++)
        if (may_use(s, user, k) &&
            (best == NUIOA_NO_MACHINE ||
             load_with(m, k, m->weight[user]) < EQUAL * load_with(m, best, m->weight[user])))
            best = k;
    if (preferred != NUIOA_NO_MACHINE && may_use(s, user, preferred) &&
        EQUAL * load_with(m, preferred, m->weight[user]) <= load_with(m, best, m->weight[user]))
        best = preferred;
    return best;
}

/* Returns true if some machine would be less loaded than `limit` with the lightest user added. Else
 * no path can help. */
static bool any_below(const struct search *s, double limit)
{
    for (uint32_t k = 0; k < s->match->machine_count; k++)
        if (load_with(s->match, k, s->lightest) < EQUAL * limit)
            return true;
    return false;
}

/* Returns the machine that the shortest path reaches next, or NUIOA_NO_MACHINE. */
static uint32_t nearest(const struct search *s)
{
    uint32_t best = NUIOA_NO_MACHINE;
    for (uint32_t k = 0; k < s->match->machine_count; k++)
        if (!s->done[k] && isfinite(s->peak[k]) &&
            (best == NUIOA_NO_MACHINE || s->peak[k] < s->peak[best]))
            best = k;
    return best;
}

/* Extends the path from a machine: each of its users, all of which are below `count`, may go on to
 * another machine and make room for the one that comes. */
static void extend(struct search *s, uint32_t machine, uint32_t count, double limit)
{
    struct nuioa_rail_match *m = s->match;
    double coming = m->weight[s->entered[machine]];
    for (uint32_t i = 0; i < count; i++) {
        if (m->machine_of[i] != machine)
            continue;
        double here = load_with(m, machine, coming - m->weight[i]);
        double peak = here > s->peak[machine] ? here : s->peak[machine];
        s->steps += m->machine_count;
        for (uint32_t k = 0; peak < EQUAL * limit && k < m->machine_count; k++)
            if (may_use(s, i, k) && !s->done[k] && peak < s->peak[k]) {
                s->peak[k] = peak;
                s->entered[k] = i;
            }
    }
}

/* Finds the path whose highest load is lowest, and returns its end; `start` is the best machine
 * without a path. This is Dijkstra's algorithm with maxima in place of sums. */
static uint32_t find_end(struct search *s, uint32_t user, uint32_t start)
{
    struct nuioa_rail_match *m = s->match;
    double limit = load_with(m, start, m->weight[user]);
    uint32_t end = start, at;
    for (uint32_t k = 0; k < m->machine_count; k++) {
        s->peak[k] = may_use(s, user, k) ? 0 : INFINITY;
        s->entered[k] = user;
        s->done[k] = false;
    }
    if (s->steps > STEPS_MAX || !any_below(s, limit))
        return start;
    while ((at = nearest(s)) != NUIOA_NO_MACHINE) {
        double last = load_with(m, at, m->weight[s->entered[at]]);
        double here = last > s->peak[at] ? last : s->peak[at];
        s->done[at] = true;
        if (here < EQUAL * limit) {
            limit = here;
            end = at;
        }
        extend(s, at, user, limit);
    }
    return end;
}

/* Moves the users of the path that ends at a machine by one, from the end to the beginning. */
static void move_along(struct search *s, uint32_t user, uint32_t end)
{
    struct nuioa_rail_match *m = s->match;
    for (;;) {
        uint32_t moving = s->entered[end], from = m->machine_of[moving];
        m->load[end] += m->weight[moving];
        m->machine_of[moving] = end;
        if (moving == user)
            return;
        m->load[from] -= m->weight[moving];
        end = from;
    }
}

/* Moves users alone as long as one finds a machine that is less loaded with it than its own one is.
 * Paths of users of equal weight leave none; unequal weights may. */
static void move_alone(struct search *s)
{
    struct nuioa_rail_match *m = s->match;
    bool moved = true;
    while (moved && s->steps <= STEPS_MAX) {
        moved = false;
        for (uint32_t i = 0; i < m->user_count; i++) {
            uint32_t from = m->machine_of[i], to = direct(s, i);
            s->steps += m->machine_count;
            if (to == from || to == NUIOA_NO_MACHINE ||
                load_with(m, to, m->weight[i]) >= EQUAL * load_with(m, from, 0))
                continue;
            m->load[from] -= m->weight[i];
            m->load[to] += m->weight[i];
            m->machine_of[i] = to;
            moved = true;
        }
    }
}

static int match(struct nuioa_rail_match *m, uint8_t least)
{
    struct nuioa_arena arena = { 0 };
    struct search s = {
        .match = m,
        .least = least,
        .peak = nuioa_arena_take(&arena, m->machine_count, sizeof(*s.peak)),
        .entered = nuioa_arena_take(&arena, m->machine_count, sizeof(*s.entered)),
        .done = nuioa_arena_take(&arena, m->machine_count, sizeof(*s.done)),
        .lightest = INFINITY,
    };
    for (uint32_t i = 0; !arena.failed && i < m->user_count; i++) {
        m->machine_of[i] = NUIOA_NO_MACHINE;
        s.lightest = m->weight[i] < s.lightest ? m->weight[i] : s.lightest;
        uint32_t start = direct(&s, i);
        if (start != NUIOA_NO_MACHINE)
            move_along(&s, i, find_end(&s, i, start));
    }
    if (!arena.failed)
        move_alone(&s);
    nuioa_arena_free(&arena);
    return arena.failed ? -ENOMEM : 0;
}

static double most_loaded(const struct nuioa_rail_match *m)
{
    double most = 0;
    for (uint32_t k = 0; k < m->machine_count; k++)
        most = fmax(most, load_with(m, k, 0));
    return most;
}

int nuioa_rail_match(struct nuioa_rail_match *m)
{
    const size_t machines = m->machine_count, size = machines * sizeof(*m->load);
    struct nuioa_arena arena = { 0 };
    for (size_t i = 0; i < m->user_count; i++) {
        uint8_t *row = m->fit + i * machines;
        const bool chooses = memchr(row, 2, machines);
        for (size_t k = 0; !chooses && k < machines; k++)
            row[k] *= 2;
    }
    if (!memchr(m->fit, 1, m->user_count * machines))
        return match(m, 2);
    double *before = nuioa_arena_take(&arena, machines, sizeof(*before));
    int rc = before ? 0 : -ENOMEM;
    if (rc == 0) {
        memcpy(before, m->load, size);
        rc = match(m, 1);
    }
    const double most = most_loaded(m);
    for (uint8_t least = 2; rc == 0 && least > 0; least--) {
        memcpy(m->load, before, size);
        rc = match(m, least);
        if (EQUAL * most_loaded(m) <= most)
            break;
    }
    nuioa_arena_free(&arena);
    return rc;
}
