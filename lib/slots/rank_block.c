/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/rank_block.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/mapping.h"
#include "slots/core.h"
#include "slots/free_cores.h"
#include "slots/shape.h"

/* A block is the set of ranks that have the same NUMA nodes. Where ranks have only some NUMA nodes
 * in common, each rank is a block if they are few and no masks overlap. Blocks are indexes, in the
 * order of their lowest ranks. */
struct block {
    uint32_t size;
    uint32_t first; /* its lowest local rank */
    bool shares;    /* all of its ranks have one mask */
};

struct blocks {
    uint32_t count;
    struct block *list; /* [count] */
    uint32_t *kind;     /* [count]: equal for blocks that can change places */
    uint32_t *of;       /* [task_count]: the block of a task */
    uint32_t *position; /* [task_count]: its position in the block, by local rank */
    bool split;         /* each rank is a block */
};

/* Returns true if rank i has the mask of rank k when its block is in the place of rank k's, which
 * is alike. */
static bool block_takes(const struct blocks *b, uint32_t i, uint32_t k)
{
    return b->list[b->of[k]].shares ? b->list[b->of[k]].first == k
                                    : b->position[k] == b->position[i];
}

/* Returns true if blocks x and y can change places: all ranks of each share one mask, or they have
 * the same size; and the slots that ranks change are of the same kind. */
static bool blocks_alike(const struct blocks *b, const struct nuioa_slots *slots, uint32_t x,
                         uint32_t y)
{
    if (b->list[x].shares != b->list[y].shares ||
        (!b->list[x].shares && b->list[x].size != b->list[y].size))
        return false;
    for (uint32_t i = 0; i < slots->count; i++)
        for (uint32_t k = 0; b->of[i] == x && k < slots->count; k++)
            if (b->of[k] == y && block_takes(b, i, k) && slots->kind[k] != slots->kind[i])
                return false;
    return true;
}

/* Up to so many ranks may each be a block; more would lengthen a launch. */
#define ALONE_MAX 8

/* Makes each rank a block. Returns false if they are too many, or if masks overlap. */
static bool split_blocks(struct blocks *b, const struct nuioa_slots *slots)
{
    const uint32_t tasks = slots->count;
    for (uint32_t i = 0; tasks <= ALONE_MAX && i < tasks; i++)
        for (uint32_t k = 0; k < i; k++)
            if (hwloc_bitmap_intersects(slots->cpus[i], slots->cpus[k]))
                return false;
    b->split = true;
    for (b->count = 0; b->count < tasks; b->count++) {
        b->list[b->count] = (struct block){ .size = 1, .first = b->count, .shares = true };
        b->of[b->count] = b->count;
        b->position[b->count] = 0;
    }
    return tasks <= ALONE_MAX;
}

/* Makes blocks of the ranks that have the same NUMA nodes. Returns false if two ranks have only
 * some in common. */
static bool join_blocks(const struct nuioa_node *node, const struct nuioa_slots *slots,
                        struct blocks *b)
{
    for (uint32_t i = 0; i < slots->count; i++) {
        uint32_t x = 0;
        for (bool meet; x < b->count; x++)
            if (nuioa_same_numas(node, slots->cpus[i], slots->cpus[b->list[x].first], &meet))
                break;
            else if (meet)
                return false;
        if (x == b->count)
            b->list[b->count++].first = i;
        b->of[i] = x;
        b->position[i] = b->list[x].size++;
        b->list[x].shares = b->list[x].size == 1 ||
                            (b->list[x].shares &&
                             hwloc_bitmap_isequal(slots->cpus[i], slots->cpus[b->list[x].first]));
    }
    return true;
}

/* Finds the blocks of Slurm's masks, `slots`, and their kinds. The arrays belong to `arena`.
 * Returns 0; -ENOTSUP if ranks have only some NUMA nodes in common and cannot be a block each; or
 * -ENOMEM. */
static int blocks_find(struct blocks *b, const struct nuioa_node *node,
                       const struct nuioa_slots *slots, struct nuioa_arena *arena)
{
    b->list = nuioa_arena_take(arena, slots->count, sizeof(*b->list));
    b->kind = nuioa_arena_take(arena, slots->count, sizeof(*b->kind));
    b->of = nuioa_arena_take(arena, slots->count, sizeof(*b->of));
    b->position = nuioa_arena_take(arena, slots->count, sizeof(*b->position));
    if (arena->failed)
        return -ENOMEM;
    if (!join_blocks(node, slots, b) && !split_blocks(b, slots))
        return -ENOTSUP;
    for (uint32_t x = 0; x < b->count; x++) {
        uint32_t like = 0;
        while (!blocks_alike(b, slots, like, x))
            like++;
        b->kind[x] = like;
    }
    return 0;
}

static int by_members(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint32_t));
}

/* Writes one pair for every two blocks that have consecutive ranks, with the number of such ranks
 * as bytes. Returns the number of pairs. */
static uint32_t chain_pairs(const struct blocks *b, uint32_t tasks, struct nuioa_pair *pairs)
{
    uint32_t n = 0, merged = 0;
    for (uint32_t i = 0; i + 1 < tasks; i++) {
        uint32_t x = b->of[i], y = b->of[i + 1];
        if (x != y)
            pairs[n++] = (struct nuioa_pair){ x < y ? x : y, x < y ? y : x, 1 };
    }
    qsort(pairs, n, sizeof(*pairs), by_members);
    for (uint32_t i = 0; i < n; i++) {
        if (merged && !by_members(&pairs[merged - 1], &pairs[i]))
            pairs[merged - 1].bytes += pairs[i].bytes;
        else
            pairs[merged++] = pairs[i];
    }
    return merged;
}

/* The most evaluations of one mapping, and of all. They keep a launch without hints at about a
 * millisecond. */
#define EFFORT 20000
#define EFFORT_ALL 60000

/* The search for an order of the blocks: the place of each. Place x is that of block x, and behind
 * those are NUMA nodes without ranks in which every block of block 0's kind has room. */
struct search {
    const struct nuioa_basis *basis;
    const struct nuioa_slots *slots;
    hwloc_const_bitmap_t free_cpus;
    struct nuioa_assignment *out; /* [task_count]: their CPUs are the result, and for the search */
    struct blocks blocks;
    hwloc_bitmap_t room;       /* for copy_block */
    struct nuioa_shape *masks; /* [task_count]: for copy_block */
    uint32_t count;            /* of places */
    uint32_t *numa;            /* [count]: the first NUMA node, an index into node->numas, or
                                  numa_count if it is unknown */
    hwloc_bitmap_t *cpus;      /* [count]: of the lowest rank of a block there */
    uint32_t *level;           /* [count]: of these CPUs */
    /* Tasks are blocks and slots are places: [blocks] and [count]. */
    struct nuioa_problem problem;
    double *none, *little; /* weights */
    bool *pinned;
    uint32_t *start, *best, *kept, *try; /* orders */
    uint64_t left;                       /* evaluations that mappings may still use */
    /* The sum of the distances of neighbours: today, in `best`, and in `kept`, where no block loses
     * levels, but neighbours do. */
    double now, apart, kept_apart;
    uint32_t loss; /* levels that other blocks than block 0 lose in `best`; UINT32_MAX: none yet */
};

static int add_place(struct search *s, hwloc_const_bitmap_t cpus)
{
    const struct nuioa_node *node = s->basis->request->node;
    const struct nuioa_pu *pu = nuioa_first_pu(node, cpus);
    s->numa[s->count] = pu && pu->numa >= 0 ? (uint32_t)pu->numa : node->numa_count;
    s->level[s->count] = nuioa_rails_nearest(&s->basis->rails, cpus);
    s->cpus[s->count] = nuioa_arena_bitmap(s->basis->arena, cpus);
    return s->cpus[s->count++] ? 0 : -ENOMEM;
}

/* Sets the result of each rank of block x to CPUs of `numa` that have the shape of the block: free
 * ones, and those of block `gone` if it has whole cores; UINT32_MAX: of none. */
static int copy_block(struct search *s, uint32_t x, uint32_t numa, uint32_t gone)
{
    const struct blocks *b = &s->blocks;
    hwloc_bitmap_t whole = s->out[b->list[x].first].cpus;
    uint32_t count = 0;
    hwloc_bitmap_zero(s->room);
    for (uint32_t i = 0; i < s->slots->count; i++) {
        if (b->of[i] == x)
            s->masks[count++] = (struct nuioa_shape){ s->slots->cpus[i], s->out[i].cpus };
        if (b->of[i] == gone && hwloc_bitmap_or(s->room, s->room, s->slots->cpus[i]) < 0)
            return -ENOMEM;
    }
    if (nuioa_cores_whole(s->basis->request->node, s->room, whole) < 0)
        return -ENOMEM;
    if (!hwloc_bitmap_isequal(s->room, whole))
        hwloc_bitmap_zero(s->room);
    if (hwloc_bitmap_or(s->room, s->room, s->free_cpus) < 0)
        return -ENOMEM;
    return nuioa_shape_copy(s->basis, s->room, numa, s->masks, count);
}

/* With how many blocks of its new kind a block is compared. All on most machines; on those with
 * very many NUMA nodes it keeps the time of a launch. */
#define COMPARED 8

/* Adds to block 0's kind those blocks of another size that can change places with blocks of that
 * kind if they use free cores, too. */
static int find_kind(struct search *s)
{
    struct blocks *b = &s->blocks;
    for (uint32_t x = 1; x < b->count; x++) {
        int rc = b->kind[x] == b->kind[0] ? -EEXIST : 0;
        for (uint32_t y = 0; y < x && y < COMPARED && rc == 0; y++)
            if (b->kind[y] == b->kind[0] && (rc = copy_block(s, x, s->numa[y], y)) == 0)
                rc = copy_block(s, y, s->numa[x], x);
        if (rc == -ENOMEM)
            return rc;
        if (rc == 0)
            b->kind[x] = b->kind[0];
    }
    return 0;
}

/* Adds the NUMA nodes without ranks in which all blocks of block 0's kind have room. */
static int find_free_places(struct search *s)
{
    const struct nuioa_node *node = s->basis->request->node;
    int rc = 0;
    for (uint32_t numa = 0; rc == 0 && numa < node->numa_count; numa++) {
        bool free = hwloc_bitmap_intersects(node->numas[numa].cpus, s->free_cpus);
        for (uint32_t i = 0; free && i < s->slots->count; i++)
            free = !hwloc_bitmap_intersects(node->numas[numa].cpus, s->slots->cpus[i]);
        for (uint32_t x = s->blocks.count; rc == 0 && free && x-- > 0;) {
            if (s->blocks.kind[x] == s->blocks.kind[0])
                rc = copy_block(s, x, numa, UINT32_MAX);
            free = rc == 0;
            rc = rc == -ENOSPC ? 0 : rc;
        }
        if (rc == 0 && free) /* the CPUs are those of block 0, the last one that was copied */
            rc = add_place(s, s->out[0].cpus);
    }
    return rc;
}

/* Finds the blocks and their places. Returns 0, -ENOMEM, or -ENOTSUP as blocks_find. */
static int find_places(struct search *s)
{
    const struct nuioa_node *node = s->basis->request->node;
    struct nuioa_arena *arena = s->basis->arena;
    int rc = blocks_find(&s->blocks, node, s->slots, arena);
    if (rc < 0)
        return rc;
    const size_t most = (size_t)s->blocks.count + node->numa_count;
    s->numa = nuioa_arena_take(arena, most, sizeof(*s->numa));
    s->cpus = nuioa_arena_take(arena, most, sizeof(hwloc_bitmap_t));
    s->level = nuioa_arena_take(arena, most, sizeof(*s->level));
    s->masks = nuioa_arena_take(arena, s->slots->count, sizeof(*s->masks));
    s->room = nuioa_arena_bitmap(arena, NULL);
    rc = arena->failed ? -ENOMEM : 0;
    for (uint32_t x = 0; rc == 0 && x < s->blocks.count; x++)
        rc = add_place(s, s->slots->cpus[s->blocks.list[x].first]);
    if (rc == 0 && s->free_cpus && !s->blocks.split)
        rc = find_kind(s);
    return rc == 0 && s->free_cpus ? find_free_places(s) : rc;
}

static int fill_problem(struct search *s)
{
    const struct nuioa_node *node = s->basis->request->node;
    const uint32_t blocks = s->blocks.count, places = s->count;
    struct nuioa_arena *arena = s->basis->arena;
    double *nic_cost = nuioa_arena_take(arena, places, sizeof(*nic_cost));
    double *domain_cost = nuioa_arena_take(arena, (size_t)places * places, sizeof(*domain_cost));
    uint32_t *tie = nuioa_arena_take(arena, places, sizeof(*tie));
    uint32_t *domain = nuioa_arena_take(arena, places, sizeof(*domain));
    uint32_t *kind = nuioa_arena_take(arena, places, sizeof(*kind));
    struct nuioa_location *at = nuioa_arena_take(arena, places, sizeof(*at));
    struct nuioa_pair *pairs = nuioa_arena_take(arena, s->slots->count, sizeof(*pairs));
    s->none = nuioa_arena_take(arena, blocks, sizeof(*s->none));
    s->little = nuioa_arena_take(arena, blocks, sizeof(*s->little));
    s->pinned = nuioa_arena_take(arena, blocks, sizeof(*s->pinned));
    s->start = nuioa_arena_take(arena, blocks, sizeof(*s->start));
    s->best = nuioa_arena_take(arena, blocks, sizeof(*s->best));
    s->kept = nuioa_arena_take(arena, blocks, sizeof(*s->kept));
    s->try = nuioa_arena_take(arena, blocks, sizeof(*s->try));
    if (arena->failed)
        return -ENOMEM;
    for (uint32_t x = 0; x < places; x++) {
        nic_cost[x] = nuioa_rails_price(&s->basis->rails, s->cpus[x]);
        domain[x] = x;
        kind[x] = s->blocks.kind[x < blocks ? x : 0];
        at[x] = nuioa_location_of(node, s->cpus[x]);
        for (uint32_t y = 0; y <= x; y++)
            domain_cost[(size_t)x * places + y] = domain_cost[(size_t)y * places + x] =
                nuioa_location_cost(node, &at[x], &at[y]);
    }
    /* Where blocks can have other places than each other's, a little price of the NIC decides
     * between orders that are equal for neighbours. */
    for (uint32_t x = 0; x < blocks; x++)
        s->little[x] = places > blocks ? 1e-6 : 0;
    s->problem = (struct nuioa_problem){
        .task_count = blocks,
        .slot_count = places,
        .nic_cost = nic_cost,
        .tie = tie,
        .domain = domain,
        .domain_count = places,
        .domain_cost = domain_cost,
        .kind = kind,
        .task_kind = s->blocks.kind,
        .pinned = s->pinned,
        .start = s->start,
        .pair_count = chain_pairs(&s->blocks, s->slots->count, pairs),
        .pairs = pairs,
    };
    s->left = EFFORT_ALL;
    return 0;
}

/* Writes the order in which only block 0 and a block that is in place `target` change places. */
static void exchange(const struct search *s, uint32_t target, uint32_t *order)
{
    for (uint32_t x = 0; x < s->blocks.count; x++)
        order[x] = x;
    order[0] = target;
    if (target < s->blocks.count)
        order[target] = 0;
}

/* Returns how far neighbours are from each other. */
static double separation(struct search *s, const uint32_t *order)
{
    s->problem.weight = s->none;
    return nuioa_cost(&s->problem, order);
}

/* Returns true if block x is farther from the NIC in the order s->try than it is now. */
static bool is_farther(const struct search *s, uint32_t x)
{
    return s->level[s->try[x]] > s->level[x];
}

/* Takes the order in s->try if it is better than the ones so far: first no other block loses its
 * place near a NIC, then neighbours are near each other. */
static void consider(struct search *s)
{
    const uint32_t blocks = s->blocks.count;
    const double apart = separation(s, s->try);
    uint32_t loss = 0;
    for (uint32_t x = 1; x < blocks; x++) {
        if (!is_farther(s, x))
            continue;
        if (s->try[x] >= blocks && s->try[0] != x)
            return; /* nobody has to go to a place without ranks but who gives way to block 0 */
        loss += s->level[s->try[x]] - s->level[x];
    }
    if (apart <= s->now && (loss < s->loss || (loss == s->loss && apart < s->apart))) {
        memcpy(s->best, s->try, blocks * sizeof(*s->best));
        s->loss = loss;
        s->apart = apart;
    } else if (apart > s->now && !loss && apart < s->kept_apart) {
        memcpy(s->kept, s->try, blocks * sizeof(*s->kept));
        s->kept_apart = apart;
    }
}

/* Considers good orders for neighbours with block 0 in place `target`: one of all blocks of its
 * kind, and then those in which blocks that lost by it stay where they are. */
static void consider_orders(struct search *s, uint32_t target)
{
    const struct blocks *b = &s->blocks;
    struct nuioa_mapping mapping;
    exchange(s, target, s->start);
    for (uint32_t x = 0; x < b->count; x++)
        s->pinned[x] = x == 0 || b->kind[x] != b->kind[0];
    for (bool again = true; again && s->left;) {
        again = false;
        s->problem.weight = s->little;
        s->problem.effort = s->left < EFFORT ? s->left : EFFORT;
        if (nuioa_map(&s->problem, s->try, &mapping) < 0)
            break;
        s->left -= mapping.evaluations < s->left ? mapping.evaluations : s->left;
        consider(s);
        for (uint32_t x = 1; x < b->count; x++)
            if (x != target && !s->pinned[x] && is_farther(s, x))
                s->pinned[x] = again = true;
    }
}

/* Considers the orders in which block 0 is in place `target`, and only the block that was there
 * gives way. */
static void consider_moves(struct search *s, uint32_t target)
{
    exchange(s, target, s->try);
    consider(s);
    for (uint32_t other = s->blocks.count; target < s->blocks.count && other < s->count; other++) {
        s->try[target] = other;
        consider(s);
    }
}

/* Writes the CPUs of every rank in the order s->best: in the place of a block of the same shape
 * those at its own position there, else those of the shape of its own block. */
static int assign_ranks(struct search *s)
{
    const struct blocks *b = &s->blocks;
    int rc = 0;
    for (uint32_t x = 0; rc == 0 && x < b->count; x++) {
        uint32_t y = s->best[x];
        bool free = y >= b->count, equal = !free && blocks_alike(b, s->slots, x, y);
        if (!equal)
            rc = copy_block(s, x, s->numa[y], free ? UINT32_MAX : y);
        for (uint32_t i = 0; equal && i < s->slots->count; i++)
            for (uint32_t k = 0; rc == 0 && b->of[i] == x && k < s->slots->count; k++)
                if (b->of[k] == y && block_takes(b, i, k) &&
                    hwloc_bitmap_copy(s->out[i].cpus, s->slots->cpus[k]) < 0)
                    rc = -ENOMEM;
    }
    return rc;
}

/* Returns the lowest level, from `least` on, of a place of block 0's kind; or its own level. */
static uint32_t next_level(const struct search *s, uint32_t least)
{
    uint32_t level = s->level[0];
    for (uint32_t x = 1; x < s->count; x++) {
        bool fits = x >= s->blocks.count || s->blocks.kind[x] == s->blocks.kind[0];
        if (fits && s->level[x] >= least && s->level[x] < level)
            level = s->level[x];
    }
    return level;
}

/* Finds an order, in s->best, with block 0 in a place of `level` and with neighbours no farther
 * from each other than now. Where another block would be farther from the NIC in each of these,
 * neighbours may be farther apart. */
static bool find_order(struct search *s, uint32_t level)
{
    const uint32_t blocks = s->blocks.count;
    s->loss = UINT32_MAX;
    s->apart = s->kept_apart = INFINITY;
    for (uint32_t k = 0; k < s->count; k++) {
        uint32_t x = (blocks + k) % s->count; /* free ones first: nobody else has to move */
        if (!x || s->problem.kind[x] != s->blocks.kind[0] || s->level[x] != level)
            continue;
        consider_orders(s, x);
        consider_moves(s, x);
    }
    if (s->loss && s->loss < UINT32_MAX && s->kept_apart < INFINITY)
        memcpy(s->best, s->kept, blocks * sizeof(*s->best));
    return s->loss < UINT32_MAX;
}

/* Moves block 0 as near as neighbours allow. */
static int move_first_block(struct search *s)
{
    uint32_t level = next_level(s, 0);
    if (level == s->level[0])
        return NUIOA_RANK_BLOCK_NEAREST;
    if (fill_problem(s) < 0)
        return -ENOMEM;
    exchange(s, 0, s->best);
    s->now = separation(s, s->best) * (1 + 1e-9);
    while (level < s->level[0] && !find_order(s, level))
        level = next_level(s, level + 1);
    if (level == s->level[0])
        return NUIOA_RANK_BLOCK_SEPARATES;
    int rc = assign_ranks(s);
    return rc == 0 ? NUIOA_RANK_BLOCK_MOVED : rc == -ENOSPC ? NUIOA_RANK_BLOCK_NEAREST : rc;
}

int nuioa_rank_block_move(const struct nuioa_basis *basis, const struct nuioa_slots *slots,
                          hwloc_const_bitmap_t among, struct nuioa_assignment *assignments)
{
    struct search s = { .basis = basis, .slots = slots, .out = assignments };
    if (among && !(s.free_cpus = nuioa_free_cores_find(basis, among)))
        return -ENOMEM;
    if (among && hwloc_bitmap_iszero(s.free_cpus))
        s.free_cpus = NULL;
    int result = find_places(&s);
    if (result == 0)
        result = move_first_block(&s);
    return result == -ENOTSUP ? NUIOA_RANK_BLOCK_SPREAD : result;
}
