/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/transportation.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "util/arena.h"
#include "util/clock.h"

#define FORBIDDEN INT64_MAX
#define NOBODY UINT32_MAX

/* The shortest augmenting path: one more item goes to a place, an item of that place to another
 * place, and so on, until a place has room. */
struct search {
    const struct nuioa_transportation *t;
    uint32_t *place_of; /* [items]: NOBODY for items that have none yet */
    uint32_t *room;     /* [places]: what is left */
    int64_t *step;      /* [places * places]: the least cost of moving one item to another place */
    uint32_t *mover;    /* [places * places]: that item, or NOBODY */
    int64_t *distance;  /* [places]: the cost of the path so far; FORBIDDEN: none */
    uint32_t *from;     /* [places]: the place before it on the path; NOBODY: none */
};

static int64_t cost_of(const struct search *s, uint32_t item, uint32_t place)
{
    return s->t->cost[(size_t)item * s->t->places + place];
}

/* Finds what it costs to move one item from each place to each other one. */
static void find_steps(struct search *s, uint32_t items)
{
    uint32_t n = s->t->places;
    for (size_t k = 0; k < (size_t)n * n; k++)
        s->mover[k] = NOBODY;
    for (uint32_t i = 0; i < items; i++) {
        size_t row = (size_t)s->place_of[i] * n;
        for (uint32_t to = 0; to < n; to++) {
            if (to == s->place_of[i] || cost_of(s, i, to) == FORBIDDEN)
                continue;
            int64_t step = cost_of(s, i, to) - cost_of(s, i, s->place_of[i]);
            if (s->mover[row + to] == NOBODY || step < s->step[row + to]) {
                s->mover[row + to] = i;
                s->step[row + to] = step;
            }
        }
    }
}

static bool is_late(const struct nuioa_transportation *t)
{
    return t->cpu_until_us && nuioa_cpu_us() > t->cpu_until_us;
}

/* Finds the shortest paths to all places (Bellman-Ford). There is no cycle of negative cost,
 * because the items that have places have the best ones. Returns 0 or -ETIME. */
static int find_paths(struct search *s, uint32_t item)
{
    uint32_t n = s->t->places;
    bool shorter = true;
    for (uint32_t k = 0; k < n; k++) {
        s->distance[k] = cost_of(s, item, k);
        s->from[k] = NOBODY;
    }
    for (uint32_t round = 0; shorter && round < n; round++) {
        shorter = false;
        if (is_late(s->t))
            return -ETIME;
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; s->distance[a] != FORBIDDEN && b < n; b++) {
                size_t k = (size_t)a * n + b;
                if (s->mover[k] == NOBODY || s->distance[a] + s->step[k] >= s->distance[b])
                    continue;
                s->distance[b] = s->distance[a] + s->step[k];
                s->from[b] = a;
                shorter = true;
            }
    }
    return 0;
}

/* Gives `item` a place, by the shortest path that ends in a place with room. The items before it
 * have places. Returns 0, -ENOSPC or -ETIME. */
static int enter(struct search *s, uint32_t item)
{
    uint32_t n = s->t->places, end = NOBODY;
    find_steps(s, item);
    if (find_paths(s, item) < 0)
        return -ETIME;
    for (uint32_t k = 0; k < n; k++)
        if (s->room[k] && s->distance[k] != FORBIDDEN &&
            (end == NOBODY || s->distance[k] < s->distance[end]))
            end = k;
    if (end == NOBODY)
        return -ENOSPC;
    s->room[end]--;
    for (; s->from[end] != NOBODY; end = s->from[end])
        s->place_of[s->mover[(size_t)s->from[end] * n + end]] = end;
    s->place_of[item] = end;
    return 0;
}

int nuioa_transport(const struct nuioa_transportation *t, uint32_t *place_of)
{
    const size_t n = t->places;
    struct nuioa_arena arena = { 0 };
    struct search s = {
        .t = t,
        .place_of = place_of,
        .room = nuioa_arena_take(&arena, n, sizeof(*s.room)),
        .step = nuioa_arena_take(&arena, n * n, sizeof(*s.step)),
        .mover = nuioa_arena_take(&arena, n * n, sizeof(*s.mover)),
        .distance = nuioa_arena_take(&arena, n, sizeof(*s.distance)),
        .from = nuioa_arena_take(&arena, n, sizeof(*s.from)),
    };
    int rc = arena.failed ? -ENOMEM : 0;
    if (rc == 0)
        memcpy(s.room, t->room, n * sizeof(*s.room));
    for (uint32_t i = 0; rc == 0 && i < t->items; i++)
        rc = enter(&s, i);
    nuioa_arena_free(&arena);
    return rc;
}
