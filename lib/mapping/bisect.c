/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/bisect.h"

#include <errno.h>
#include <string.h>

#include "mapping/hierarchy.h"
#include "mapping/local_search.h"
#include "mapping/multilevel.h"

/* A part of the machine, and the tasks that belong there. */
struct part {
    uint32_t node;  /* of the binary tree */
    uint32_t first; /* its tasks are tasks[first .. first + count) */
    uint32_t count;
};

struct bisection {
    const struct nuioa_graph *graph;
    struct nuioa_binary_tree tree;
    struct nuioa_arena arena;
    struct part *parts; /* [class_count], part_count in use */
    uint32_t part_count;
    uint32_t *tasks;   /* [count] */
    uint32_t *part_of; /* [count]: index of a task's part */
    uint32_t *local;   /* [count]: index of a task within its part */
    double *mean;      /* [2 * class_count]: mean price of a byte from each half to each part */
    /* The expected price of a byte inside a half lies between the mean over its slots (0) and that
     * of its nearest two slots (1). */
    double optimism;
    uint32_t tries; /* bipartitions of each part */
    nuioa_bipartitioner *bipartition;
    struct nuioa_random *random;
    struct nuioa_budget *budget;
};

/* Returns the mean price of a byte between the slots of two nodes of the tree. */
static double mean_between(const struct bisection *b, uint32_t x, uint32_t y)
{
    const struct nuioa_binary_tree *h = &b->tree;
    const struct nuioa_class *classes = b->graph->classes;
    double sum = 0, slots = 0;
    for (uint32_t k = h->first[x]; k < h->last[x]; k++)
        for (uint32_t l = h->first[y]; l < h->last[y]; l++) {
            uint32_t a = h->order[k], c = h->order[l];
            double weight = (double)classes[a].slots * classes[c].slots;
            sum += weight * nuioa_distances(b->graph, a)[c];
            slots += weight;
        }
    return sum / slots;
}

/* Returns the expected price of a byte between two tasks of one half. */
static double price_inside(const struct bisection *b, uint32_t node)
{
    const struct nuioa_binary_tree *h = &b->tree;
    double least = -1;
    for (uint32_t k = h->first[node]; k < h->last[node]; k++) {
        uint32_t a = h->order[k];
        for (uint32_t l = h->first[node]; l < h->last[node]; l++) {
            double price = nuioa_distances(b->graph, a)[h->order[l]];
            if ((k != l || b->graph->classes[a].slots > 1) && (least < 0 || price < least))
                least = price;
        }
    }
    double mean = mean_between(b, node, node);
    return least < 0 ? mean : mean + b->optimism * (least - mean);
}

/* Returns the mean linear cost of task i in a part of the machine. */
static double linear_in(const struct bisection *b, uint32_t i, uint32_t node)
{
    const struct nuioa_binary_tree *h = &b->tree;
    const struct nuioa_graph *g = b->graph;
    const double *linear = g->linear + (size_t)i * g->class_count;
    double sum = 0, slots = 0;
    for (uint32_t k = h->first[node]; k < h->last[node]; k++) {
        const struct nuioa_class *slot_class = &g->classes[h->order[k]];
        if (slot_class->kind != g->kind[i])
            continue;
        sum += slot_class->slots * linear[h->order[k]];
        slots += slot_class->slots;
    }
    return slots > 0 ? sum / slots : 0;
}

static void fill_limits(const struct bisection *b, uint32_t node, uint32_t *limit)
{
    const struct nuioa_binary_tree *h = &b->tree;
    for (uint32_t k = h->first[node]; k < h->last[node]; k++) {
        const struct nuioa_class *slot_class = &b->graph->classes[h->order[k]];
        limit[slot_class->kind] += slot_class->slots;
    }
}

/* Fills the vertices. A neighbour in the same part becomes an edge; one in another part becomes
 * bias. */
static void fill_bipartition(struct bisection *b, const struct part *part,
                             struct nuioa_bipartition *c)
{
    const struct nuioa_graph *g = b->graph;
    const double *left = b->mean, *right = b->mean + g->class_count;
    uint32_t x = b->tree.left[part->node], y = b->tree.right[part->node];
    double inside[2] = { price_inside(b, x), price_inside(b, y) };
    double across = mean_between(b, x, y) - (inside[0] + inside[1]) / 2;
    uint32_t here = (uint32_t)(part - b->parts), edges = 0;
    for (uint32_t v = 0; v < part->count; v++) {
        uint32_t i = b->tasks[part->first + v];
        c->size[v] = 1;
        c->kind[v] = g->kind[i];
        c->bias[v] = linear_in(b, i, y) - linear_in(b, i, x);
        for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++) {
            uint32_t there = b->part_of[g->peer[e]];
            if (there == here) {
                c->peer[edges] = b->local[g->peer[e]];
                c->bytes[edges++] = g->bytes[e] * across;
                c->bias[v] += g->bytes[e] * (inside[1] - inside[0]) / 2;
            } else {
                c->bias[v] += g->bytes[e] * (right[there] - left[there]);
            }
        }
        c->row[v + 1] = edges;
    }
    fill_limits(b, x, c->limit[0]);
    fill_limits(b, y, c->limit[1]);
}

/* Returns 40, 20 or 10 vertices at random. Bipartitioning works well with up to 40. Fewer vertices
 * are larger: they take less work, and tasks that belong together, such as a hub and all tasks that
 * communicate with it only, stay together. */
static uint32_t draw_coarsest_count(struct nuioa_random *random)
{
    return 40u >> nuioa_random_below(random, 3);
}

static bool take_bipartition(const struct bisection *b, const struct part *part,
                             struct nuioa_arena *scratch, struct nuioa_bipartition *c)
{
    const struct nuioa_graph *g = b->graph;
    size_t edges = 0;
    for (uint32_t v = 0; v < part->count; v++) {
        uint32_t i = b->tasks[part->first + v];
        edges += g->row[i + 1] - g->row[i];
    }
    *c = (struct nuioa_bipartition){
        .count = part->count,
        .kind_count = g->kind_count,
        .coarsest_count = draw_coarsest_count(b->random),
        .tries = b->tries,
    };
    c->size = nuioa_arena_take(scratch, c->count, sizeof(*c->size));
    c->kind = nuioa_arena_take(scratch, c->count, sizeof(*c->kind));
    c->limit[0] = nuioa_arena_take(scratch, c->kind_count, sizeof(uint32_t));
    c->limit[1] = nuioa_arena_take(scratch, c->kind_count, sizeof(uint32_t));
    c->bias = nuioa_arena_take(scratch, c->count, sizeof(*c->bias));
    c->row = nuioa_arena_take(scratch, (size_t)c->count + 1, sizeof(*c->row));
    c->peer = nuioa_arena_take(scratch, edges, sizeof(*c->peer));
    c->bytes = nuioa_arena_take(scratch, edges, sizeof(*c->bytes));
    c->side = nuioa_arena_take(scratch, c->count, sizeof(*c->side));
    return !scratch->failed;
}

/* Keeps the left half in the part and makes a new part of the right half. */
static void divide(struct bisection *b, struct part *part, const struct nuioa_bipartition *c)
{
    struct part *other = &b->parts[b->part_count];
    uint32_t *tasks = b->tasks + part->first, kept = 0, given = 0;
    uint32_t *copy = c->size; /* the sizes are no longer needed */
    memcpy(copy, tasks, part->count * sizeof(*tasks));
    for (uint32_t v = 0; v < part->count; v++) {
        if (c->side[v])
            tasks[part->count - ++given] = copy[v];
        else
            tasks[kept++] = copy[v];
    }
    *other = (struct part){ b->tree.right[part->node], part->first + kept, given };
    part->node = b->tree.left[part->node];
    part->count = kept;
    for (uint32_t v = 0; v < given; v++)
        b->part_of[b->tasks[other->first + v]] = b->part_count;
    b->part_count++;
}

static int bisect_part(struct bisection *b, struct part *part)
{
    struct nuioa_arena scratch = { 0 };
    struct nuioa_bipartition cut;
    int rc = -ENOMEM;
    if (!take_bipartition(b, part, &scratch, &cut))
        goto out;
    for (uint32_t v = 0; v < part->count; v++)
        b->local[b->tasks[part->first + v]] = v;
    for (uint32_t q = 0; q < b->part_count; q++) {
        b->mean[q] = mean_between(b, b->tree.left[part->node], b->parts[q].node);
        b->mean[b->graph->class_count + q] =
            mean_between(b, b->tree.right[part->node], b->parts[q].node);
    }
    fill_bipartition(b, part, &cut);
    /* For small parts the work up to here exceeds that of the bipartition. */
    uint64_t classes = b->tree.last[part->node] - b->tree.first[part->node];
    b->budget->evaluations += 64 + classes * b->graph->class_count / 4;
    rc = b->bipartition(&cut, b->random, b->budget);
    if (!rc)
        divide(b, part, &cut);
out:
    nuioa_arena_free(&scratch);
    return rc;
}

/* Goes through the tree breadth first, so that the positions of all other tasks are known about
 * equally well. */
static int bisect_all(struct bisection *b, uint32_t *at)
{
    const struct nuioa_graph *g = b->graph;
    b->parts[0] = (struct part){ 2 * g->class_count - 2, 0, g->count };
    b->part_count = 1;
    for (uint32_t i = 0; i < g->count; i++) {
        b->tasks[i] = i;
        b->part_of[i] = 0;
    }
    for (uint32_t parts = 0; parts != b->part_count;) {
        parts = b->part_count;
        for (uint32_t q = 0; q < parts; q++) {
            int rc = b->parts[q].node >= g->class_count ? bisect_part(b, &b->parts[q]) : 0;
            if (rc)
                return rc;
        }
    }
    for (uint32_t q = 0; q < b->part_count; q++)
        for (uint32_t v = 0; v < b->parts[q].count; v++)
            at[b->tasks[b->parts[q].first + v]] = b->parts[q].node;
    return 0;
}

/* `left` is scratch. */
static bool fits(const struct nuioa_graph *g, const uint32_t *at, uint32_t *left)
{
    for (uint32_t c = 0; c < g->class_count; c++)
        left[c] = g->classes[c].slots;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->classes[at[i]].kind != g->kind[i] || !left[at[i]]--)
            return false;
    return true;
}

static int make_tree(struct bisection *b, bool split)
{
    struct nuioa_binary_tree joined;
    uint64_t n = b->graph->class_count;
    b->budget->evaluations += n * n * n / 16;
    int rc = nuioa_binary_tree_join(b->graph, &b->arena, &joined);
    b->tree = joined;
    return rc || !split ? rc : nuioa_binary_tree_split(b->graph, &joined, &b->arena, &b->tree);
}

int nuioa_bisect_once(const struct nuioa_graph *g, uint32_t variant, uint32_t tries,
                      struct nuioa_random *random, uint32_t *at, struct nuioa_budget *budget)
{
    struct bisection b = {
        .graph = g,
        .optimism = variant % 3 / 2.0,
        .tries = tries,
        .random = random,
        .budget = budget,
    };
    size_t classes = g->class_count;
    b.bipartition = nuioa_graph_is_dense(g) ? nuioa_bipartition_flat : nuioa_bipartition_multilevel;
    b.parts = nuioa_arena_take(&b.arena, classes, sizeof(*b.parts));
    b.tasks = nuioa_arena_take(&b.arena, g->count, sizeof(*b.tasks));
    b.part_of = nuioa_arena_take(&b.arena, g->count, sizeof(*b.part_of));
    b.local = nuioa_arena_take(&b.arena, g->count, sizeof(*b.local));
    b.mean = nuioa_arena_take(&b.arena, 2 * classes, sizeof(*b.mean));
    uint32_t *left = nuioa_arena_take(&b.arena, classes, sizeof(*left));
    int rc = b.arena.failed || make_tree(&b, variant % 2 == 0) ? -ENOMEM : bisect_all(&b, at);
    if (!rc && !fits(g, at, left))
        rc = -EINVAL;
    nuioa_arena_free(&b.arena);
    return rc;
}

/* Fills at[count] with the best result of all variants, each after a local search; repeats them
 * with other random numbers until the budget is used up. */
static int try_variants(struct nuioa_class_assignment *assignment, uint32_t *at,
                        struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = assignment->graph;
    struct nuioa_random random = { 88172645463325252 };
    double best = INFINITY;
    int rc = 0;
    for (uint32_t variant = 0; !rc && (!variant || budget->evaluations < budget->limit);
         variant++) {
        rc = nuioa_bisect_once(g, variant, 2, &random, assignment->at, budget);
        if (rc)
            break;
        nuioa_assign_all(assignment);
        budget->evaluations += g->count * nuioa_change_effort(g);
        rc = nuioa_local_search(assignment, true, best, budget);
        if (!rc && assignment->cost < best) {
            best = assignment->cost;
            memcpy(at, assignment->at, g->count * sizeof(*at));
        }
    }
    return rc;
}

static int map(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    struct nuioa_class_assignment assignment;
    int rc = nuioa_class_assignment_open(&assignment, p->graph);
    uint32_t *best = nuioa_arena_take(&assignment.arena, p->graph->count, sizeof(*best));
    if (!best)
        rc = -ENOMEM;
    if (!rc)
        rc = p->graph->count ? try_variants(&assignment, best, budget) : -EINVAL;
    memcpy(slot_of, p->start, p->task_count * sizeof(*slot_of));
    if (!rc)
        rc = nuioa_take_slots(p, best, slot_of);
    nuioa_class_assignment_close(&assignment);
    return rc;
}

const struct nuioa_mapper nuioa_bisect = { "bisect", map };
