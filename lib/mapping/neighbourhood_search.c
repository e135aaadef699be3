/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/neighbourhood_search.h"

#include <errno.h>
#include <string.h>

#include "mapping/bisect.h"
#include "mapping/descend.h"
#include "mapping/local_search.h"

/* A part of the problem is a problem itself: the tasks in some classes, with these classes as its
 * machine. The costs of traffic with all other tasks are part of the linear costs. */

struct search {
    struct nuioa_class_assignment *assignment;
    struct nuioa_random *random;
    uint32_t *classes; /* [class_count of the graph]: the chosen ones; class_count are in use */
    uint32_t class_count;
    uint32_t *index;  /* [class_count of the graph]: index among the chosen, or NUIOA_NO_CLASS */
    uint32_t *vertex; /* [count]: index of a task in the part */
};

/* Returns a random number from 2 to `classes`; low ones are more frequent, because small parts take
 * less work and find most of what larger ones find. */
static uint32_t draw_count(struct search *r, uint32_t classes)
{
    uint64_t x = nuioa_random_below(r->random, 1024);
    return 2 + (uint32_t)((classes - 1) * x * x >> 20);
}

static void choose_class(struct search *r, uint32_t slot_class)
{
    if (r->index[slot_class] != NUIOA_NO_CLASS)
        return;
    r->index[slot_class] = r->class_count;
    r->classes[r->class_count++] = slot_class;
}

/* Chooses classes that communicate: the next one is that of a random neighbour of a random task in
 * a chosen class. The part stays smaller if there are no more such neighbours. */
static void choose(struct search *r)
{
    const struct nuioa_graph *g = r->assignment->graph;
    const uint32_t *at = r->assignment->at;
    uint32_t wanted = draw_count(r, g->class_count);
    memset(r->index, 0xff, g->class_count * sizeof(*r->index));
    r->class_count = 0;
    choose_class(r, at[nuioa_random_below(r->random, g->count)]);
    for (uint32_t k = 0; k < 20 * wanted && r->class_count < wanted; k++) {
        uint32_t i = nuioa_random_below(r->random, g->count), degree = g->row[i + 1] - g->row[i];
        if (degree && r->index[at[i]] != NUIOA_NO_CLASS)
            choose_class(r, at[g->peer[g->row[i] + nuioa_random_below(r->random, degree)]]);
    }
}

static bool take_part(struct search *r, struct nuioa_graph *part)
{
    const struct nuioa_graph *g = r->assignment->graph;
    size_t classes = r->class_count, edges = 0;
    memset(part, 0, sizeof(*part));
    part->task = nuioa_arena_take(&part->arena, g->count, sizeof(*part->task));
    if (part->arena.failed)
        return false;
    for (uint32_t i = 0; i < g->count; i++) {
        if (r->index[r->assignment->at[i]] == NUIOA_NO_CLASS)
            continue;
        r->vertex[i] = part->count;
        part->task[part->count++] = i;
        edges += g->row[i + 1] - g->row[i];
    }
    part->kind_count = g->kind_count;
    part->class_count = r->class_count;
    part->kind = nuioa_arena_take(&part->arena, part->count, sizeof(*part->kind));
    part->classes = nuioa_arena_take(&part->arena, classes, sizeof(*part->classes));
    part->distance = nuioa_arena_take(&part->arena, classes * classes, sizeof(double));
    part->linear = nuioa_arena_take(&part->arena, classes * part->count, sizeof(double));
    part->row = nuioa_arena_take(&part->arena, (size_t)part->count + 1, sizeof(*part->row));
    part->peer = nuioa_arena_take(&part->arena, edges, sizeof(*part->peer));
    part->bytes = nuioa_arena_take(&part->arena, edges, sizeof(*part->bytes));
    return !part->arena.failed;
}

/* Neighbours in the part become edges. The linear cost is the present price without them. */
static void fill_task(const struct search *r, struct nuioa_graph *part, uint32_t v)
{
    const struct nuioa_graph *g = r->assignment->graph;
    uint32_t i = part->task[v], edges = part->row[v];
    double *linear = part->linear + (size_t)v * part->class_count;
    const double *price = nuioa_prices(r->assignment, i);
    part->kind[v] = g->kind[i];
    for (uint32_t a = 0; a < part->class_count; a++)
        linear[a] = price[r->classes[a]];
    for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++) {
        uint32_t j = g->peer[e], there = r->index[r->assignment->at[j]];
        if (there == NUIOA_NO_CLASS)
            continue;
        const double *distance = nuioa_distances(part, there);
        for (uint32_t a = 0; a < part->class_count; a++)
            linear[a] -= g->bytes[e] * distance[a];
        part->peer[edges] = r->vertex[j];
        part->bytes[edges++] = g->bytes[e];
    }
    part->row[v + 1] = edges;
}

static bool make_part(struct search *r, struct nuioa_graph *part)
{
    const struct nuioa_graph *g = r->assignment->graph;
    if (!take_part(r, part))
        return false;
    for (uint32_t a = 0; a < part->class_count; a++) {
        part->classes[a] = g->classes[r->classes[a]];
        for (uint32_t b = 0; b < part->class_count; b++)
            part->distance[(size_t)a * part->class_count + b] =
                nuioa_distances(g, r->classes[a])[r->classes[b]];
    }
    for (uint32_t v = 0; v < part->count; v++)
        fill_task(r, part, v);
    return true;
}

/* Assigns the part anew. Returns 1 if it costs less than before, 0 if not, or a negative error. */
static int reassign(struct search *r, struct nuioa_class_assignment *s, struct nuioa_budget *budget)
{
    const struct nuioa_graph *part = s->graph;
    for (uint32_t v = 0; v < part->count; v++)
        s->at[v] = r->index[r->assignment->at[part->task[v]]];
    nuioa_assign_all(s);
    double before = s->cost;
    /* Fewer than 2^31 tasks.
     * NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result) */
    budget->evaluations += 2 * part->count * nuioa_change_effort(part);
    int rc = nuioa_bisect_once(part, nuioa_random_below(r->random, 6), 1, r->random, s->at, budget);
    if (rc)
        return rc;
    nuioa_assign_all(s);
    rc = nuioa_local_search(s, false, before, budget);
    return rc ? rc : s->cost < before - nuioa_least_gain(s);
}

static void apply(struct search *r, const struct nuioa_class_assignment *s,
                  struct nuioa_budget *budget)
{
    const struct nuioa_graph *part = s->graph;
    uint64_t effort = nuioa_change_effort(r->assignment->graph);
    for (uint32_t v = 0; v < part->count; v++) {
        uint32_t i = part->task[v], slot_class = r->classes[s->at[v]];
        if (r->assignment->at[i] == slot_class)
            continue;
        /* A class may have too many tasks until the last one has moved. */
        nuioa_class_assignment_move(r->assignment, i, slot_class);
        budget->evaluations += effort;
    }
}

static int search_part(struct search *r, struct nuioa_budget *budget)
{
    struct nuioa_graph part;
    struct nuioa_class_assignment s = { 0 };
    int rc = make_part(r, &part) && !nuioa_class_assignment_open(&s, &part) ? 0 : -ENOMEM;
    if (!rc)
        rc = reassign(r, &s, budget);
    if (rc > 0) {
        apply(r, &s, budget);
        rc = nuioa_descend(r->assignment, budget);
    }
    nuioa_class_assignment_close(&s);
    nuioa_graph_free(&part);
    return rc == -EINVAL ? 0 : rc; /* -EINVAL: the new assignment does not fit */
}

int nuioa_neighbourhood_search(struct nuioa_class_assignment *assignment,
                               struct nuioa_random *random, struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = assignment->graph;
    struct nuioa_arena scratch = { 0 };
    struct search r = { .assignment = assignment, .random = random };
    r.classes = nuioa_arena_take(&scratch, g->class_count, sizeof(*r.classes));
    r.index = nuioa_arena_take(&scratch, g->class_count, sizeof(*r.index));
    r.vertex = nuioa_arena_take(&scratch, g->count, sizeof(*r.vertex));
    int rc = scratch.failed ? -ENOMEM : 0;
    while (!rc && g->class_count > 1 && nuioa_spend(budget, 20)) {
        choose(&r);
        if (r.class_count > 1)
            rc = search_part(&r, budget);
    }
    nuioa_arena_free(&scratch);
    return rc;
}
