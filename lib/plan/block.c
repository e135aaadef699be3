/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct blocks {
    uint32_t count;
    uint32_t *of;       /* [task_count]: the block of a task */
    uint32_t *position; /* [task_count]: its position in the block, by local rank */
    uint32_t *size;     /* [count] */
    uint32_t *first;    /* [count]: its lowest local rank */
    uint32_t *kind;     /* [count]: equal for blocks that can change places */
};

static void blocks_free(struct blocks *b)
{
    free(b->of);
    free(b->position);
    free(b->size);
    free(b->first);
    free(b->kind);
}

static int blocks_alloc(struct blocks *b, uint32_t tasks)
{
    *b = (struct blocks){ 0 };
    b->of = calloc(tasks, sizeof(*b->of));
    b->position = calloc(tasks, sizeof(*b->position));
    b->size = calloc(tasks, sizeof(*b->size));
    b->first = calloc(tasks, sizeof(*b->first));
    b->kind = calloc(tasks, sizeof(*b->kind));
    return b->of && b->position && b->size && b->first && b->kind ? 0 : -ENOMEM;
}

/* Returns the index into node->numas of the NUMA node that holds all of `cpus`, or -1. */
static int numa_of(const struct nuioa_node *node, hwloc_const_bitmap_t cpus)
{
    int cpu = hwloc_bitmap_first(cpus);
    int pu = cpu < 0 ? -1 : nuioa_node_pu(node, (unsigned)cpu);
    int numa = pu < 0 ? -1 : node->pus[pu].numa;
    return numa >= 0 && hwloc_bitmap_isincluded(cpus, node->numas[numa].cpus) ? numa : -1;
}

/* Returns true if two blocks can change places: they have the same size, and the slots at each
 * position are of the same kind. */
static bool same_shape(const struct blocks *b, const struct nuioa_slots *slots, uint32_t x,
                       uint32_t y)
{
    if (b->size[x] != b->size[y])
        return false;
    for (uint32_t i = 0; i < slots->count; i++)
        for (uint32_t k = 0; b->of[i] == x && k < slots->count; k++)
            if (b->of[k] == y && b->position[k] == b->position[i] &&
                slots->kind[k] != slots->kind[i])
                return false;
    return true;
}

/* Finds the blocks. Returns false if a rank's CPUs span NUMA nodes. */
static bool find_blocks(const struct nuioa_node *node, const struct nuioa_slots *slots,
                        struct blocks *b)
{
    for (uint32_t i = 0; i < slots->count; i++) {
        int numa = numa_of(node, slots->cpus[i]);
        if (numa < 0)
            return false;
        uint32_t x = 0;
        while (x < b->count && numa_of(node, slots->cpus[b->first[x]]) != numa)
            x++;
        if (x == b->count)
            b->first[b->count++] = i;
        b->of[i] = x;
        b->position[i] = b->size[x]++;
    }
    for (uint32_t x = 0; x < b->count; x++) {
        uint32_t like = 0;
        while (!same_shape(b, slots, like, x))
            like++;
        b->kind[x] = like;
    }
    return true;
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

/* The most evaluations of one mapping. It keeps a launch without hints below a millisecond. */
#define EFFORT 20000

/* A mapping problem in which the tasks are blocks and the slots are the CPUs of blocks, with the
 * memory that struct nuioa_problem points to. */
struct block_problem {
    struct nuioa_problem problem;
    double *zero, *one, *domain_cost;
    uint32_t *tie, *domain, *start, *best, *try;
    bool *pinned;
    struct nuioa_pair *pairs;
};

static void block_problem_free(struct block_problem *a)
{
    free(a->zero);
    free(a->one);
    free(a->domain_cost);
    free(a->tie);
    free(a->domain);
    free(a->start);
    free(a->best);
    free(a->try);
    free(a->pinned);
    free(a->pairs);
}

static int block_problem_fill(struct block_problem *a, const struct nuioa_request *request,
                              const struct nuioa_slots *slots, const struct blocks *b)
{
    uint32_t n = b->count;
    *a = (struct block_problem){ 0 };
    a->zero = calloc(n, sizeof(*a->zero));
    a->one = calloc(n, sizeof(*a->one));
    a->domain_cost = calloc((size_t)n * n, sizeof(*a->domain_cost));
    a->tie = calloc(n, sizeof(*a->tie));
    a->domain = calloc(n, sizeof(*a->domain));
    a->start = calloc(n, sizeof(*a->start));
    a->best = calloc(n, sizeof(*a->best));
    a->try = calloc(n, sizeof(*a->try));
    a->pinned = calloc(n, sizeof(*a->pinned));
    a->pairs = calloc(request->task_count, sizeof(*a->pairs));
    if (!a->zero || !a->one || !a->domain_cost || !a->tie || !a->domain || !a->start || !a->best ||
        !a->try || !a->pinned || !a->pairs)
        return -ENOMEM;
    for (uint32_t x = 0; x < n; x++) {
        a->one[x] = 1;
        a->domain[x] = x;
        a->pinned[x] = b->kind[x] != b->kind[0];
        for (uint32_t y = 0; y < n; y++)
            a->domain_cost[(size_t)x * n + y] = nuioa_neighbour_cost(
                request->node, slots->cpus[b->first[x]], slots->cpus[b->first[y]]);
    }
    a->pinned[0] = true;
    a->problem = (struct nuioa_problem){
        .task_count = n,
        .slot_count = n,
        .weight = a->zero,
        .nic_cost = a->one,
        .tie = a->tie,
        .domain = a->domain,
        .domain_count = n,
        .domain_cost = a->domain_cost,
        .kind = b->kind,
        .task_kind = b->kind,
        .pinned = a->pinned,
        .start = a->start,
        .pair_count = chain_pairs(b, request->task_count, a->pairs),
        .pairs = a->pairs,
        .effort = EFFORT,
    };
    return 0;
}

/* Finds the best order of blocks with block 0 on the CPUs of block `target`. Returns its cost. */
static double arrange(struct block_problem *a, uint32_t target)
{
    struct nuioa_mapping mapping;
    for (uint32_t x = 0; x < a->problem.task_count; x++)
        a->start[x] = x;
    a->start[0] = target;
    a->start[target] = 0;
    nuioa_map(&a->problem, a->try, &mapping);
    return mapping.cost;
}

static void identity(uint32_t *slot_of, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        slot_of[i] = i;
}

/* Gives every rank the slot at its own position in the block whose CPUs its block gets:
 * block_of[x] is that block for block x. */
static void assign_ranks(const struct blocks *b, uint32_t tasks, const uint32_t *block_of,
                         uint32_t *slot_of)
{
    for (uint32_t i = 0; i < tasks; i++)
        for (uint32_t k = 0; k < tasks; k++)
            if (b->of[k] == block_of[b->of[i]] && b->position[k] == b->position[i])
                slot_of[i] = k;
}

static uint32_t level_of(const struct blocks *b, const struct nuioa_slots *slots,
                         const struct nuioa_rails *rails, uint32_t x)
{
    return nuioa_rails_nearest(rails, slots->cpus[b->first[x]]);
}

/* Moves block 0 to the nearest blocks of its kind, and keeps the result with the lowest cost. */
static int move_first_block(const struct nuioa_request *request, const struct nuioa_slots *slots,
                            const struct nuioa_rails *rails, const struct blocks *b,
                            uint32_t *slot_of)
{
    uint32_t nearest = level_of(b, slots, rails, 0);
    for (uint32_t x = 1; x < b->count; x++)
        if (b->kind[x] == b->kind[0] && level_of(b, slots, rails, x) < nearest)
            nearest = level_of(b, slots, rails, x);
    if (nearest == level_of(b, slots, rails, 0))
        return NUIOA_BLOCK_NEAREST;

    struct block_problem a;
    int result = block_problem_fill(&a, request, slots, b) < 0 ? -ENOMEM : NUIOA_BLOCK_SEPARATES;
    if (result == NUIOA_BLOCK_SEPARATES) {
        identity(a.best, b->count);
        double now = nuioa_cost(&a.problem, a.best), best = now * (1 + 1e-9);
        for (uint32_t x = 1; x < b->count; x++) {
            if (b->kind[x] != b->kind[0] || level_of(b, slots, rails, x) != nearest)
                continue;
            double cost = arrange(&a, x);
            if (cost < best || (cost == best && result == NUIOA_BLOCK_SEPARATES)) {
                best = cost;
                memcpy(a.best, a.try, b->count * sizeof(*a.best));
                result = NUIOA_BLOCK_MOVED;
            }
        }
        if (result == NUIOA_BLOCK_MOVED)
            assign_ranks(b, request->task_count, a.best, slot_of);
    }
    block_problem_free(&a);
    return result;
}

int nuioa_block_move(const struct nuioa_request *request, const struct nuioa_slots *slots,
                     const struct nuioa_rails *rails, uint32_t *slot_of)
{
    struct blocks b;
    int result = -ENOMEM;
    identity(slot_of, request->task_count);
    if (!slots->count)
        return NUIOA_BLOCK_NEAREST;
    if (blocks_alloc(&b, slots->count) == 0)
        result = find_blocks(request->node, slots, &b)
                     ? move_first_block(request, slots, rails, &b, slot_of)
                     : NUIOA_BLOCK_SPREAD;
    blocks_free(&b);
    return result;
}
