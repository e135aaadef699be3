/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/rank_block.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/mapping.h"
#include "slots/block.h"
#include "slots/core.h"
#include "slots/free_cores.h"

static int by_members(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint32_t));
}

/* Writes one pair for every two blocks that have consecutive ranks, with the number of such ranks
 * as bytes. Returns the number of pairs. */
static uint32_t chain_pairs(const struct nuioa_blocks *b, uint32_t tasks, struct nuioa_pair *pairs)
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

/* Where blocks can be: place x is that of block x, and behind those are NUMA nodes without ranks in
 * which every block of block 0's kind has room. */
struct places {
    const struct nuioa_basis *basis;
    const struct nuioa_slots *slots;
    const struct nuioa_blocks *blocks;
    hwloc_const_bitmap_t free_cpus;
    hwloc_bitmap_t room;       /* for copy_block */
    struct nuioa_arena *arena; /* of all arrays */
    uint32_t count;
    uint32_t *numa;            /* [count]: the first NUMA node, an index into node->numas, or
                                  numa_count if it is unknown */
    hwloc_bitmap_t *cpus;      /* [count]: of the lowest rank of a block there; it owns them */
    uint32_t *level;           /* [count]: of these CPUs */
    struct nuioa_shape *masks; /* [task_count]: for copy_block */
};

static void places_free(struct places *p)
{
    hwloc_bitmap_free(p->room);
    for (uint32_t x = 0; p->cpus && x < p->count; x++)
        hwloc_bitmap_free(p->cpus[x]);
}

static int add_place(struct places *p, hwloc_const_bitmap_t cpus)
{
    const struct nuioa_node *node = p->basis->request->node;
    const struct nuioa_pu *pu = nuioa_first_pu(node, cpus);
    p->numa[p->count] = pu && pu->numa >= 0 ? (uint32_t)pu->numa : node->numa_count;
    p->level[p->count] = nuioa_rails_nearest(&p->basis->rails, cpus);
    p->cpus[p->count] = hwloc_bitmap_dup(cpus);
    return p->cpus[p->count++] ? 0 : -ENOMEM;
}

static int places_begin(struct places *p)
{
    const uint32_t most = p->blocks->count + p->basis->request->node->numa_count;
    p->room = hwloc_bitmap_alloc();
    p->numa = nuioa_arena_take(p->arena, most, sizeof(*p->numa));
    p->cpus = nuioa_arena_take(p->arena, most, sizeof(hwloc_bitmap_t));
    p->level = nuioa_arena_take(p->arena, most, sizeof(*p->level));
    p->masks = nuioa_arena_take(p->arena, p->slots->count, sizeof(*p->masks));
    int rc = p->arena->failed || !p->room ? -ENOMEM : 0;
    for (uint32_t x = 0; rc == 0 && x < p->blocks->count; x++)
        rc = add_place(p, p->slots->cpus[p->blocks->first[x]]);
    return rc;
}

/* Sets cpus[i], for each rank i of block x, to CPUs of `numa` that have the shape of the block:
 * free ones, and those of block `gone` if it has whole cores; UINT32_MAX: of none. */
static int copy_block(struct places *p, uint32_t x, uint32_t numa, uint32_t gone,
                      hwloc_bitmap_t *cpus)
{
    hwloc_bitmap_t whole = cpus[p->blocks->first[x]];
    uint32_t count = 0;
    int rc = 0;
    hwloc_bitmap_zero(p->room);
    for (uint32_t i = 0; i < p->slots->count; i++) {
        if (p->blocks->of[i] == x)
            p->masks[count++] = (struct nuioa_shape){ p->slots->cpus[i], cpus[i] };
        if (p->blocks->of[i] == gone && hwloc_bitmap_or(p->room, p->room, p->slots->cpus[i]) < 0)
            rc = -ENOMEM;
    }
    if (rc == 0)
        rc = nuioa_cores_whole(p->basis->request->node, p->room, whole);
    if (rc == 0 && !hwloc_bitmap_isequal(p->room, whole))
        hwloc_bitmap_zero(p->room);
    if (rc == 0 && hwloc_bitmap_or(p->room, p->room, p->free_cpus) < 0)
        rc = -ENOMEM;
    return rc < 0 ? rc : nuioa_free_cores_copy(&p->basis->rails, p->room, numa, p->masks, count);
}

/* With how many blocks of its new kind a block is compared. All on most machines; on those with
 * very many NUMA nodes it keeps the time of a launch. */
#define COMPARED 8

/* Adds to block 0's kind those blocks of another size that can change places with blocks of that
 * kind if they use free cores, too. `cpus` are bitmaps for the search. */
static int find_kind(struct places *p, struct nuioa_blocks *b, hwloc_bitmap_t *cpus)
{
    int rc = 0;
    for (uint32_t x = 1; x < b->count && rc != -ENOMEM; x++) {
        rc = b->kind[x] == b->kind[0] ? -EEXIST : 0;
        for (uint32_t y = 0; y < x && y < COMPARED && rc == 0; y++)
            if (b->kind[y] == b->kind[0] && (rc = copy_block(p, x, p->numa[y], y, cpus)) == 0)
                rc = copy_block(p, y, p->numa[x], x, cpus);
        if (rc == 0)
            b->kind[x] = b->kind[0];
    }
    return rc == -ENOMEM ? rc : 0;
}

/* Adds the NUMA nodes without ranks in which all blocks of block 0's kind have room. `cpus` are
 * bitmaps for the search. */
static int find_free_places(struct places *p, hwloc_bitmap_t *cpus)
{
    const struct nuioa_node *node = p->basis->request->node;
    int rc = 0;
    for (uint32_t numa = 0; rc == 0 && numa < node->numa_count; numa++) {
        bool free = hwloc_bitmap_intersects(node->numas[numa].cpus, p->free_cpus);
        for (uint32_t i = 0; free && i < p->slots->count; i++)
            free = !hwloc_bitmap_intersects(node->numas[numa].cpus, p->slots->cpus[i]);
        for (uint32_t x = p->blocks->count; rc == 0 && free && x-- > 0;) {
            if (p->blocks->kind[x] == p->blocks->kind[0])
                rc = copy_block(p, x, numa, UINT32_MAX, cpus);
            free = rc == 0;
            rc = rc == -ENOSPC ? 0 : rc;
        }
        if (rc == 0 && free) /* the CPUs are those of block 0, the last one that was copied */
            rc = add_place(p, cpus[0]);
    }
    return rc;
}

/* A mapping problem in which the tasks are blocks and the slots are places, with the memory that
 * struct nuioa_problem points to. */
struct block_problem {
    struct nuioa_problem problem;
    double *none, *little; /* [blocks]: weights */
    double *nic_cost, *domain_cost;
    uint32_t *tie, *domain, *kind, *start, *best, *kept, *try;
    bool *pinned;
    struct nuioa_pair *pairs;
    struct nuioa_location *at; /* [places] */
    uint64_t left;             /* evaluations that mappings may still use */
};

static int block_problem_alloc(struct block_problem *a, uint32_t blocks, uint32_t places,
                               uint32_t tasks, struct nuioa_arena *arena)
{
    a->none = nuioa_arena_take(arena, blocks, sizeof(*a->none));
    a->little = nuioa_arena_take(arena, blocks, sizeof(*a->little));
    a->nic_cost = nuioa_arena_take(arena, places, sizeof(*a->nic_cost));
    a->domain_cost = nuioa_arena_take(arena, (size_t)places * places, sizeof(*a->domain_cost));
    a->tie = nuioa_arena_take(arena, places, sizeof(*a->tie));
    a->domain = nuioa_arena_take(arena, places, sizeof(*a->domain));
    a->kind = nuioa_arena_take(arena, places, sizeof(*a->kind));
    a->start = nuioa_arena_take(arena, blocks, sizeof(*a->start));
    a->best = nuioa_arena_take(arena, blocks, sizeof(*a->best));
    a->kept = nuioa_arena_take(arena, blocks, sizeof(*a->kept));
    a->try = nuioa_arena_take(arena, blocks, sizeof(*a->try));
    a->pinned = nuioa_arena_take(arena, blocks, sizeof(*a->pinned));
    a->pairs = nuioa_arena_take(arena, tasks, sizeof(*a->pairs));
    a->at = nuioa_arena_take(arena, places, sizeof(*a->at));
    return arena->failed ? -ENOMEM : 0;
}

/* Lets only blocks of block 0's kind move, and block 0 where it starts. */
static void pin(struct block_problem *a, const struct nuioa_blocks *b)
{
    for (uint32_t x = 0; x < b->count; x++)
        a->pinned[x] = x == 0 || b->kind[x] != b->kind[0];
}

static int block_problem_fill(struct block_problem *a, const struct places *p)
{
    const struct nuioa_blocks *b = p->blocks;
    uint32_t blocks = b->count, places = p->count;
    if (block_problem_alloc(a, blocks, places, p->slots->count, p->arena) < 0)
        return -ENOMEM;
    for (uint32_t x = 0; x < places; x++) {
        a->nic_cost[x] = nuioa_rails_price(&p->basis->rails, p->cpus[x]);
        a->domain[x] = x;
        a->kind[x] = b->kind[x < blocks ? x : 0];
        a->at[x] = nuioa_location_of(p->basis->request->node, p->cpus[x]);
        for (uint32_t y = 0; y <= x; y++)
            a->domain_cost[(size_t)x * places + y] = a->domain_cost[(size_t)y * places + x] =
                nuioa_location_cost(p->basis->request->node, &a->at[x], &a->at[y]);
    }
    for (uint32_t x = 0; x < blocks; x++) {
        /* Of orders that are equal for neighbours, the one with places nearer the NIC is taken,
         * where blocks can have other places than each other's. */
        a->little[x] = places > blocks ? 1e-6 : 0;
    }
    a->problem = (struct nuioa_problem){
        .task_count = blocks,
        .slot_count = places,
        .nic_cost = a->nic_cost,
        .tie = a->tie,
        .domain = a->domain,
        .domain_count = places,
        .domain_cost = a->domain_cost,
        .kind = a->kind,
        .task_kind = b->kind,
        .pinned = a->pinned,
        .start = a->start,
        .pair_count = chain_pairs(b, p->slots->count, a->pairs),
        .pairs = a->pairs,
    };
    a->left = EFFORT_ALL;
    return 0;
}

static void identity(uint32_t *place_of, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        place_of[i] = i;
}

/* Returns how far neighbours are from each other. */
static double separation(struct block_problem *a, const uint32_t *place_of)
{
    a->problem.weight = a->none;
    return nuioa_cost(&a->problem, place_of);
}

/* Returns true if block x is farther from the NIC in the order a->try than it is now. */
static bool is_farther(const struct block_problem *a, const struct places *p, uint32_t x)
{
    return p->level[a->try[x]] > p->level[x];
}

/* The best orders so far. */
struct orders {
    double now;    /* how far neighbours are from each other today */
    uint32_t loss; /* levels that other blocks than block 0 lose in a->best; UINT32_MAX: none yet */
    double apart;  /* how far neighbours are from each other in a->best */
    double kept_apart; /* the same for a->kept, where no block loses, but neighbours do */
};

/* Takes the order in a->try if it is better than the ones so far: first no other block loses its
 * place near a NIC, then neighbours are near each other. */
static void consider(struct block_problem *a, const struct places *p, struct orders *o)
{
    const uint32_t blocks = p->blocks->count;
    const double apart = separation(a, a->try);
    uint32_t loss = 0;
    for (uint32_t x = 1; x < blocks; x++) {
        if (!is_farther(a, p, x))
            continue;
        if (a->try[x] >= blocks && a->try[0] != x)
            return; /* nobody has to go to a place without ranks but who gives way to block 0 */
        loss += p->level[a->try[x]] - p->level[x];
    }
    if (apart <= o->now && (loss < o->loss || (loss == o->loss && apart < o->apart))) {
        memcpy(a->best, a->try, blocks * sizeof(*a->best));
        o->loss = loss;
        o->apart = apart;
    } else if (apart > o->now && !loss && apart < o->kept_apart) {
        memcpy(a->kept, a->try, blocks * sizeof(*a->kept));
        o->kept_apart = apart;
    }
}

/* Considers good orders for neighbours with block 0 in place `target`: one of all blocks, and then
 * those in which blocks that lost by it stay where they are. */
static void consider_orders(struct block_problem *a, const struct places *p, uint32_t target,
                            struct orders *o)
{
    const uint32_t blocks = p->blocks->count;
    struct nuioa_mapping mapping;
    identity(a->start, blocks);
    a->start[0] = target;
    if (target < blocks)
        a->start[target] = 0;
    pin(a, p->blocks);
    for (bool again = true; again && a->left;) {
        again = false;
        a->problem.weight = a->little;
        a->problem.effort = a->left < EFFORT ? a->left : EFFORT;
        if (nuioa_map(&a->problem, a->try, &mapping) < 0)
            break;
        a->left -= mapping.evaluations < a->left ? mapping.evaluations : a->left;
        consider(a, p, o);
        for (uint32_t x = 1; x < blocks; x++)
            if (x != target && !a->pinned[x] && is_farther(a, p, x))
                a->pinned[x] = again = true;
    }
}

/* Considers the orders in which block 0 is in place `target`, and only the block that was there
 * gives way. */
static void consider_moves(struct block_problem *a, const struct places *p, uint32_t target,
                           struct orders *o)
{
    const uint32_t blocks = p->blocks->count;
    identity(a->try, blocks);
    a->try[0] = target;
    if (target < blocks)
        a->try[target] = 0;
    consider(a, p, o);
    for (uint32_t other = blocks; target < blocks && other < p->count; other++) {
        a->try[target] = other;
        consider(a, p, o);
    }
}

/* Writes the CPUs of every rank: in the place of a block of the same shape those at its own
 * position there, else those of the shape of its own block. */
static int assign_ranks(struct places *p, const uint32_t *place_of, hwloc_bitmap_t *cpus)
{
    const struct nuioa_blocks *b = p->blocks;
    int rc = 0;
    for (uint32_t x = 0; rc == 0 && x < b->count; x++) {
        uint32_t y = place_of[x];
        bool free = y >= b->count, equal = !free && nuioa_blocks_alike(b, p->slots, x, y);
        if (!equal)
            rc = copy_block(p, x, p->numa[y], free ? UINT32_MAX : y, cpus);
        for (uint32_t i = 0; equal && i < p->slots->count; i++)
            for (uint32_t k = 0; rc == 0 && b->of[i] == x && k < p->slots->count; k++)
                if (b->of[k] == y && nuioa_block_takes(b, i, k) &&
                    hwloc_bitmap_copy(cpus[i], p->slots->cpus[k]) < 0)
                    rc = -ENOMEM;
    }
    return rc;
}

/* Returns the lowest level, from `least` on, of a place of block 0's kind; or its own level. */
static uint32_t next_level(const struct places *p, uint32_t least)
{
    uint32_t level = p->level[0];
    for (uint32_t x = 1; x < p->count; x++) {
        bool fits = x >= p->blocks->count || p->blocks->kind[x] == p->blocks->kind[0];
        if (fits && p->level[x] >= least && p->level[x] < level)
            level = p->level[x];
    }
    return level;
}

/* Finds an order, in a->best, with block 0 in a place of `level` and with neighbours no farther
 * from each other than `now`. Where another block would be farther from the NIC in each of these,
 * neighbours may be farther apart. */
static bool find_order(struct block_problem *a, const struct places *p, uint32_t level, double now)
{
    const struct nuioa_blocks *b = p->blocks;
    struct orders o = { now, UINT32_MAX, INFINITY, INFINITY };
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t x = (b->count + k) % p->count; /* free ones first: nobody else has to move */
        if (!x || a->kind[x] != b->kind[0] || p->level[x] != level)
            continue;
        consider_orders(a, p, x, &o);
        consider_moves(a, p, x, &o);
    }
    if (o.loss && o.loss < UINT32_MAX && o.kept_apart < INFINITY)
        memcpy(a->best, a->kept, b->count * sizeof(*a->best));
    return o.loss < UINT32_MAX;
}

/* Moves block 0 as near as neighbours allow. */
static int move_first_block(struct places *p, struct nuioa_blocks *b, hwloc_bitmap_t *cpus)
{
    struct block_problem a;
    int result = places_begin(p);
    if (result == 0 && p->free_cpus && !b->split)
        result = find_kind(p, b, cpus);
    if (result == 0 && p->free_cpus)
        result = find_free_places(p, cpus);
    uint32_t level = result == 0 ? next_level(p, 0) : 0;
    if (result < 0 || level == p->level[0])
        return result < 0 ? result : NUIOA_RANK_BLOCK_NEAREST;
    result = block_problem_fill(&a, p) < 0 ? -ENOMEM : NUIOA_RANK_BLOCK_SEPARATES;
    if (result == NUIOA_RANK_BLOCK_SEPARATES) {
        identity(a.best, b->count);
        double now = separation(&a, a.best) * (1 + 1e-9);
        for (; level < p->level[0] && result == NUIOA_RANK_BLOCK_SEPARATES;
             level = next_level(p, level + 1))
            if (find_order(&a, p, level, now))
                result = NUIOA_RANK_BLOCK_MOVED;
        int rc = result == NUIOA_RANK_BLOCK_MOVED ? assign_ranks(p, a.best, cpus) : 0;
        if (rc < 0)
            result = rc == -ENOSPC ? NUIOA_RANK_BLOCK_NEAREST : rc;
    }
    return result;
}

int nuioa_rank_block_move(const struct nuioa_basis *basis, const struct nuioa_slots *slots,
                          hwloc_const_bitmap_t free_cpus, hwloc_bitmap_t *cpus)
{
    struct nuioa_arena arena = { 0 };
    struct nuioa_blocks b;
    if (!slots->count)
        return NUIOA_RANK_BLOCK_NEAREST;
    int result = nuioa_blocks_find(&b, basis->request->node, slots, &arena);
    if (result == 0) {
        struct places p = { basis, slots, &b, free_cpus, .arena = &arena };
        result = move_first_block(&p, &b, cpus);
        places_free(&p);
    }
    nuioa_arena_free(&arena);
    return result == -ENOTSUP ? NUIOA_RANK_BLOCK_SPREAD : result;
}
