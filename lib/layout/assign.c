/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout/assign.h"

#include <errno.h>
#include <string.h>

#include "mapping/mapping.h"
#include "util/arena.h"

/* --- one search ------------------------------------------------------------------------------- */

struct arrays {
    double *weight, *nic_cost, *domain_cost;
    uint32_t *zero, *domain, *block, *cyclic, *known, *next, *slot_of;
};

static int take_arrays(struct arrays *a, uint32_t ranks, uint32_t nodes, struct nuioa_arena *arena)
{
    a->weight = nuioa_arena_take(arena, ranks, sizeof(*a->weight));
    a->nic_cost = nuioa_arena_take(arena, ranks, sizeof(*a->nic_cost));
    a->zero = nuioa_arena_take(arena, ranks, sizeof(*a->zero));
    a->domain = nuioa_arena_take(arena, ranks, sizeof(*a->domain));
    a->block = nuioa_arena_take(arena, ranks, sizeof(*a->block));
    a->cyclic = nuioa_arena_take(arena, ranks, sizeof(*a->cyclic));
    a->known = nuioa_arena_take(arena, ranks, sizeof(*a->known));
    a->slot_of = nuioa_arena_take(arena, ranks, sizeof(*a->slot_of));
    a->next = nuioa_arena_take(arena, nodes, sizeof(*a->next));
    a->domain_cost = nuioa_arena_take(arena, (size_t)nodes * nodes, sizeof(*a->domain_cost));
    return arena->failed ? -ENOMEM : 0;
}

/* Makes slots of the nodes in at[ranks]: those of a node in the order of the ranks. */
static void nodes_to_slots(const struct arrays *a, uint32_t node_count, const uint32_t *tasks,
                           uint32_t ranks, uint32_t *at)
{
    for (uint32_t node = 0, slot = 0; node < node_count; slot += tasks[node++])
        a->next[node] = slot;
    for (uint32_t i = 0; i < ranks; i++)
        at[i] = a->next[at[i]]++;
}

/* Fills the slots, node by node, the prices, and the slots of the layouts to begin with. */
static void fill_arrays(struct arrays *a, const struct nuioa_network *network,
                        const uint32_t *tasks, uint32_t ranks, const uint32_t *known)
{
    uint32_t nodes = network->node_count;
    nuioa_layout_block(nodes, tasks, a->domain);
    nuioa_layout_cyclic(nodes, tasks, a->cyclic);
    nodes_to_slots(a, nodes, tasks, ranks, a->cyclic);
    if (known) {
        memcpy(a->known, known, ranks * sizeof(*known));
        nodes_to_slots(a, nodes, tasks, ranks, a->known);
    }
    for (uint32_t i = 0; i < ranks; i++) {
        a->nic_cost[i] = 1;
        a->block[i] = i;
    }
    for (uint32_t x = 0; x < nodes; x++)
        for (uint32_t y = 0; y < nodes; y++)
            a->domain_cost[(size_t)x * nodes + y] = nuioa_network_distance(network, x, y);
}

int nuioa_layout_assign(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                        const uint32_t *tasks, const uint32_t *known, uint64_t effort,
                        uint32_t *node_of, const char **mapper)
{
    struct nuioa_arena arena = { 0 };
    struct arrays a;
    struct nuioa_mapping mapping;
    int rc = take_arrays(&a, t->rank_count, network->node_count, &arena);
    if (!rc) {
        fill_arrays(&a, network, tasks, t->rank_count, known);
        const struct nuioa_start further[] = { { "block", a.block },
                                               { "cyclic", a.cyclic },
                                               { "levels", a.known } };
        const struct nuioa_problem problem = {
            .task_count = t->rank_count,
            .slot_count = t->rank_count,
            .weight = a.weight,
            .nic_cost = a.nic_cost,
            .tie = a.zero,
            .domain = a.domain,
            .domain_count = network->node_count,
            .domain_cost = a.domain_cost,
            .kind = a.zero,
            .task_kind = a.zero,
            .start = a.block,
            .further_count = known ? 3 : 2,
            .further = further,
            .pair_count = t->pair_count,
            .pairs = t->pairs,
            .effort = effort,
        };
        rc = nuioa_map(&problem, a.slot_of, &mapping);
    }
    if (!rc)
        *mapper = mapping.mapper;
    for (uint32_t i = 0; i < t->rank_count && !rc; i++)
        node_of[i] = a.domain[a.slot_of[i]];
    nuioa_arena_free(&arena);
    return rc;
}

/* --- level by level --------------------------------------------------------------------------- */

struct levels {
    const struct nuioa_network *network;
    const uint32_t *tasks;
    double effort_per_rank; /* on each level */
    uint32_t *node_of;      /* the result */
};

/* Ranks of the job that are to be on some of its nodes. */
struct part {
    uint32_t node_count;
    uint32_t *nodes;                     /* [node_count] */
    uint32_t *ranks;                     /* [traffic.rank_count]: the job's numbers, ascending */
    struct nuioa_layout_traffic traffic; /* between them, by their place in `ranks` */
};

/* The groups of nodes that are directly below a switch, or the nodes there. */
struct children {
    uint32_t count;
    uint32_t *of_node; /* [node_count of the part] */
    uint32_t *tasks;   /* [count] */
    uint32_t *of_rank; /* [rank_count of the part] */
};

/* Finds the groups of the part's nodes on the level below `level`, where level 0 is the nodes. */
static void find_children(const struct levels *d, const struct part *part, uint32_t level,
                          struct children *c, uint32_t *group)
{
    c->count = 0;
    for (uint32_t k = 0; k < part->node_count; k++) {
        uint32_t node = part->nodes[k], child = 0;
        uint32_t g = level ? d->network->group[(level - 1) * d->network->node_count + node] : node;
        while (child < c->count && group[child] != g)
            child++;
        if (child == c->count) {
            group[c->count] = g;
            c->tasks[c->count++] = 0;
        }
        c->of_node[k] = child;
        c->tasks[child] += d->tasks[node];
    }
}

/* Fills `below` with the nodes, ranks and traffic of one child; place[] is scratch. */
static int take_child(const struct part *part, const struct children *c, uint32_t child,
                      struct nuioa_arena *arena, uint32_t *place, struct part *below)
{
    struct nuioa_layout_traffic *t = &below->traffic;
    uint32_t pairs = 0;
    for (uint32_t k = 0; k < part->traffic.pair_count; k++) {
        const struct nuioa_pair *pair = &part->traffic.pairs[k];
        pairs += c->of_rank[pair->first] == child && c->of_rank[pair->second] == child;
    }
    *below = (struct part){
        .nodes = nuioa_arena_take(arena, part->node_count, sizeof(*below->nodes)),
        .ranks = nuioa_arena_take(arena, c->tasks[child], sizeof(*below->ranks)),
        .traffic.pairs = nuioa_arena_take(arena, pairs, sizeof(*t->pairs)),
    };
    if (arena->failed)
        return -ENOMEM;
    for (uint32_t k = 0; k < part->node_count; k++)
        if (c->of_node[k] == child)
            below->nodes[below->node_count++] = part->nodes[k];
    for (uint32_t i = 0; i < part->traffic.rank_count; i++)
        if (c->of_rank[i] == child) {
            place[i] = t->rank_count;
            below->ranks[t->rank_count++] = part->ranks[i];
        }
    for (uint32_t k = 0; k < part->traffic.pair_count; k++) {
        const struct nuioa_pair *pair = &part->traffic.pairs[k];
        if (c->of_rank[pair->first] == child && c->of_rank[pair->second] == child)
            t->pairs[t->pair_count++] =
                (struct nuioa_pair){ place[pair->first], place[pair->second], pair->bytes };
    }
    return 0;
}

static int assign_children(const struct levels *d, const struct part *part, struct children *c)
{
    const struct nuioa_network flat = { .node_count = c->count };
    const char *mapper;
    uint64_t effort = (uint64_t)(d->effort_per_rank * part->traffic.rank_count) + 1;
    return nuioa_layout_assign(&part->traffic, &flat, c->tasks, NULL, effort, c->of_rank, &mapper);
}

/* Recursion: one call for each level, at most NUIOA_NETWORK_LEVELS_MAX deep. */
static int divide(const struct levels *d, const struct part *part, uint32_t level)
{
    struct nuioa_arena arena = { 0 };
    struct children c = { 0 };
    struct part below;
    uint32_t nodes = part->node_count, ranks = part->traffic.rank_count;
    c.of_node = nuioa_arena_take(&arena, nodes, sizeof(*c.of_node));
    c.tasks = nuioa_arena_take(&arena, nodes, sizeof(*c.tasks));
    c.of_rank = nuioa_arena_take(&arena, ranks, sizeof(*c.of_rank));
    uint32_t *scratch = nuioa_arena_take(&arena, (size_t)nodes + ranks, sizeof(*scratch));
    int rc = arena.failed ? -ENOMEM : 0;
    if (!rc)
        find_children(d, part, level, &c, scratch);
    if (!rc && c.count > 1)
        rc = assign_children(d, part, &c);
    for (uint32_t i = 0; i < ranks && !rc && !level; i++)
        d->node_of[part->ranks[i]] = part->nodes[c.of_rank[i]];
    for (uint32_t child = 0; child < c.count && !rc && level; child++) {
        struct nuioa_arena own = { 0 };
        rc = take_child(part, &c, child, &own, scratch, &below);
        rc = rc ? rc : divide(d, &below, level - 1);
        nuioa_arena_free(&own);
    }
    nuioa_arena_free(&arena);
    return rc;
}

int nuioa_layout_assign_levels(const struct nuioa_layout_traffic *t,
                               const struct nuioa_network *network, const uint32_t *tasks,
                               uint64_t effort, uint32_t *node_of)
{
    struct nuioa_arena arena = { 0 };
    struct levels d = { network, tasks, 0, node_of };
    struct part all = { network->node_count,
                        nuioa_arena_take(&arena, network->node_count, sizeof(*all.nodes)),
                        nuioa_arena_take(&arena, t->rank_count, sizeof(*all.ranks)), *t };
    int rc = arena.failed ? -ENOMEM : 0;
    if (t->rank_count)
        d.effort_per_rank = (double)effort / t->rank_count / (network->level_count + 1);
    for (uint32_t k = 0; k < network->node_count && !rc; k++)
        all.nodes[k] = k;
    for (uint32_t i = 0; i < t->rank_count && !rc; i++)
        all.ranks[i] = i;
    rc = rc ? rc : divide(&d, &all, network->level_count);
    nuioa_arena_free(&arena);
    return rc;
}
