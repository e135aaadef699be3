/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/mapping.h"
#include "util/arena.h"

/* Returns the evaluations that a mapper may use. The more ranks, the more of them it takes until
 * nothing better is found; above 1,000 ranks, time ends it. */
static uint64_t effort_for(uint32_t ranks)
{
    const uint64_t small = 500000, each = 300000, most = 100000000;
    if (ranks <= 32)
        return small;
    return each * ranks < most ? each * ranks : most;
}

/* --- the problem of a mapper ------------------------------------------------------------------ */

struct arrays {
    double *weight, *nic_cost, *domain_cost;
    uint32_t *zero, *domain, *block, *cyclic;
};

static int take_arrays(struct arrays *a, uint32_t ranks, uint32_t nodes, struct nuioa_arena *arena)
{
    a->weight = nuioa_arena_take(arena, ranks, sizeof(*a->weight));
    a->nic_cost = nuioa_arena_take(arena, ranks, sizeof(*a->nic_cost));
    a->zero = nuioa_arena_take(arena, ranks, sizeof(*a->zero));
    a->domain = nuioa_arena_take(arena, ranks, sizeof(*a->domain));
    a->block = nuioa_arena_take(arena, ranks, sizeof(*a->block));
    a->cyclic = nuioa_arena_take(arena, ranks, sizeof(*a->cyclic));
    a->domain_cost = nuioa_arena_take(arena, (size_t)nodes * nodes, sizeof(*a->domain_cost));
    return arena->failed ? -ENOMEM : 0;
}

/* Fills the slots, node by node, and for each rank its slot by block and by cyclic. next[] is
 * scratch. */
static void fill_slots(struct arrays *a, const struct nuioa_network *network, const uint32_t *tasks,
                       uint32_t ranks, uint32_t *next)
{
    nuioa_layout_block(network->node_count, tasks, a->domain);
    nuioa_layout_cyclic(network->node_count, tasks, a->cyclic);
    for (uint32_t node = 0, slot = 0; node < network->node_count; slot += tasks[node++])
        next[node] = slot;
    for (uint32_t i = 0; i < ranks; i++) {
        a->nic_cost[i] = 1;
        a->block[i] = i;
        a->cyclic[i] = next[a->cyclic[i]]++;
    }
    for (uint32_t x = 0; x < network->node_count; x++)
        for (uint32_t y = 0; y < network->node_count; y++)
            a->domain_cost[(size_t)x * network->node_count + y] =
                nuioa_network_distance(network, x, y);
}

/* The problem of all ranks, and the arrays that it points to. */
struct whole {
    struct nuioa_arena arena;
    struct arrays arrays;
    uint32_t *slot_of; /* [rank_count]: the result */
    struct nuioa_start further[2];
    struct nuioa_problem problem;
};

/* Returns 0 or -ENOMEM; the caller frees w->arena in both cases. */
static int make_whole(struct whole *w, const struct nuioa_layout_traffic *t,
                      const struct nuioa_network *network, const uint32_t *tasks)
{
    struct arrays *a = &w->arrays;
    memset(w, 0, sizeof(*w));
    uint32_t *next = nuioa_arena_take(&w->arena, network->node_count, sizeof(*next));
    w->slot_of = nuioa_arena_take(&w->arena, t->rank_count, sizeof(*w->slot_of));
    if (take_arrays(a, t->rank_count, network->node_count, &w->arena))
        return -ENOMEM;
    fill_slots(a, network, tasks, t->rank_count, next);
    w->further[0] = (struct nuioa_start){ "block", a->block };
    w->further[1] = (struct nuioa_start){ "cyclic", a->cyclic };
    w->problem = (struct nuioa_problem){
        .task_count = t->rank_count,
        .slot_count = t->rank_count,
        .weight = a->weight,
        .nic_cost = a->nic_cost,
        .tie = a->zero,
        .domain = a->domain,
        .domain_count = network->node_count,
        .domain_cost = a->domain_cost,
        .kind = a->zero,
        .task_kind = a->zero,
        .start = a->block,
        .further_count = 2,
        .further = w->further,
        .pair_count = t->pair_count,
        .pairs = t->pairs,
        .effort = effort_for(t->rank_count),
    };
    return 0;
}

/* Maps all ranks at once, and fills node_of[]. Returns 0 or -ENOMEM. */
static int map_whole(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                     const uint32_t *tasks, uint32_t *node_of, const char **mapper)
{
    struct whole w;
    struct nuioa_mapping mapping;
    int rc = make_whole(&w, t, network, tasks);
    rc = rc ? rc : nuioa_map(&w.problem, w.slot_of, &mapping);
    if (!rc)
        *mapper = mapping.mapper;
    for (uint32_t i = 0; i < t->rank_count && !rc; i++)
        node_of[i] = w.arrays.domain[w.slot_of[i]];
    nuioa_arena_free(&w.arena);
    return rc;
}

/* --- the layout ------------------------------------------------------------------------------ */

static bool is_worth(const struct nuioa_layout_traffic *t, const struct nuioa_layout *l)
{
    double gain = l->block.cost - l->layout.cost;
    return gain > 0 && gain >= NUIOA_LAYOUT_LEAST_GAIN * l->block.cost &&
           gain >= NUIOA_LAYOUT_LEAST_SHARE * t->all_bytes;
}

static int measure_srun(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                        const uint32_t *tasks, struct nuioa_layout *l)
{
    nuioa_layout_cyclic(network->node_count, tasks, l->node_of);
    int rc = nuioa_layout_measure(t, network, l->node_of, &l->cyclic);
    nuioa_layout_block(network->node_count, tasks, l->node_of);
    return rc ? rc : nuioa_layout_measure(t, network, l->node_of, &l->block);
}

int nuioa_layout_make(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                      const uint32_t *tasks, struct nuioa_layout *l)
{
    *l = (struct nuioa_layout){ .mapper = "keep" };
    l->node_of = malloc(((size_t)t->rank_count + 1) * sizeof(*l->node_of));
    int rc = l->node_of ? measure_srun(t, network, tasks, l) : -ENOMEM;
    l->layout = l->block;
    if (!rc && l->block.cost > 0) {
        rc = map_whole(t, network, tasks, l->node_of, &l->mapper);
        rc = rc ? rc : nuioa_layout_measure(t, network, l->node_of, &l->layout);
    }
    if (rc)
        nuioa_layout_free(l);
    else if (!(l->use = is_worth(t, l)))
        nuioa_layout_block(network->node_count, tasks, l->node_of);
    return rc;
}

void nuioa_layout_free(struct nuioa_layout *l)
{
    free(l->node_of);
    *l = (struct nuioa_layout){ 0 };
}
