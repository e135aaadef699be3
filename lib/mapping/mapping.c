/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mapping/search.h"

/* In the order in which they are tried; the first of equals wins. Affinity first: where the NIC
 * does not matter its groups are in the order of their members, which a reader of the plan
 * understands. `until` is in tenths of the budget: what one leaves the next may use, the last
 * leaves the rest to polishing, which finds less where nearly all talk to each other. */
static const struct entry {
    const struct nuioa_mapper *mapper;
    uint32_t until, until_crowded;
} with_pairs[] = { { &nuioa_affinity_tree, 1, 1 },
                   { &nuioa_hopsort, 1, 1 },
                   { &nuioa_bisect, 6, 8 } },
  weights_only[] = { { &nuioa_hopsort, 10, 10 } };

struct portfolio {
    const struct nuioa_problem *problem;
    const struct nuioa_graph *graph; /* NULL: weights only */
    uint32_t *slot_of;               /* the best so far */
    uint32_t *candidate;
    struct nuioa_mapping *mapping;
    struct nuioa_budget budget;
};

/* What is counted is the same on every machine. Small problems get enough to find the optimum,
 * large ones what about 8 ms hold at 128 tasks and 80 ms at 512. */
static uint64_t budget_for(const struct nuioa_problem *p)
{
    uint64_t n = p->task_count, square = n * n;
    if (p->effort)
        return p->effort;
    if (n <= 128)
        return n <= 32 ? 400000 : 250000;
    return 40 * square < 3400000 ? 40 * square : 3400000;
}

/* What slots of equal cost differ in: whether the heavy ranks have those nearer CPUs. */
static double tie_cost(const struct nuioa_problem *p, const uint32_t *slot_of)
{
    double cost = 0;
    for (uint32_t i = 0; i < p->task_count; i++)
        cost += p->weight[i] * p->tie[slot_of[i]];
    return cost;
}

static void consider(struct portfolio *f, const char *name)
{
    double cost = nuioa_cost(f->problem, f->candidate);
    /* Rounding alone is no reason to move anybody. */
    double rounding = 1e-12 * f->mapping->cost_start;
    bool better = cost < f->mapping->cost - rounding;
    if (!better && !f->graph && cost <= f->mapping->cost + rounding)
        better = tie_cost(f->problem, f->candidate) < tie_cost(f->problem, f->slot_of) - rounding;
    if (!better)
        return;
    memcpy(f->slot_of, f->candidate, f->problem->task_count * sizeof(*f->slot_of));
    f->mapping->cost = cost;
    f->mapping->mapper = name;
}

static void try_mapper(struct portfolio *f, const struct entry *entry)
{
    bool crowded = f->graph && nuioa_graph_is_dense(f->graph);
    uint32_t until = crowded ? entry->until_crowded : entry->until;
    struct nuioa_budget part = { f->budget.evaluations, f->budget.limit / 10 * until };
    if (entry->mapper->map(f->problem, f->candidate, &part) >= 0) {
        if (f->graph)
            nuioa_refine(f->problem, f->candidate, &part);
        consider(f, entry->mapper->name);
    }
    f->budget.evaluations = part.evaluations;
}

/* Small problems are annealed, hot and several times, so that where it began does not matter. Large
 * ones, which no budget anneals from scratch, are renewed part by part; where nearly all talk to
 * each other no part stands apart, and shaking is better. */
static int better(struct portfolio *f, struct nuioa_class_assignment *assignment)
{
    enum { SMALL = 32, ROUNDS = 4 };
    struct nuioa_random random = { 0x9e3779b97f4a7c15 };
    struct nuioa_budget *budget = &f->budget;
    uint64_t left = budget->limit > budget->evaluations ? budget->limit - budget->evaluations : 0;
    if (f->graph->count > SMALL)
        return nuioa_graph_is_dense(f->graph)
                   ? nuioa_anneal(assignment, &random, 0.1, left, budget)
                   : nuioa_neighbourhood_search(assignment, &random, budget);
    for (int k = 0; k < ROUNDS; k++) {
        int rc = nuioa_anneal(assignment, &random, 0.3, left / ROUNDS, budget);
        if (rc)
            return rc;
    }
    return 0;
}

/* What is left of the budget goes into the best mapping. */
static void polish(struct portfolio *f)
{
    struct nuioa_class_assignment assignment = { 0 };
    const struct nuioa_problem *p = f->problem;
    if (strcmp(f->mapping->mapper, "keep") && !nuioa_class_assignment_open(&assignment, f->graph)) {
        memcpy(f->candidate, f->slot_of, p->task_count * sizeof(*f->candidate));
        nuioa_classes_of(f->graph, f->slot_of, assignment.at);
        nuioa_assign_all(&assignment, assignment.at);
        if (!better(f, &assignment) && !nuioa_take_slots(p, f->graph, assignment.at, f->candidate))
            consider(f, f->mapping->mapper);
    }
    nuioa_class_assignment_close(&assignment);
}

uint64_t nuioa_cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static bool is_late(const struct nuioa_problem *p)
{
    return p->cpu_until_us && nuioa_cpu_us() > p->cpu_until_us;
}

/* What a budget counts ends each step; the clock is for what nobody has thought of. */
static int run(struct portfolio *f)
{
    if (!f->graph) {
        for (size_t m = 0; m < sizeof(weights_only) / sizeof(*weights_only); m++)
            try_mapper(f, &weights_only[m]);
        return 0;
    }
    for (size_t m = 0; m < sizeof(with_pairs) / sizeof(*with_pairs) && !is_late(f->problem); m++)
        try_mapper(f, &with_pairs[m]);
    if (!is_late(f->problem))
        polish(f);
    return is_late(f->problem) ? -ETIME : 0;
}

int nuioa_map(const struct nuioa_problem *problem, uint32_t *slot_of, struct nuioa_mapping *mapping)
{
    size_t bytes = problem->task_count * sizeof(*slot_of);
    struct nuioa_problem p = *problem;
    struct nuioa_graph graph = { 0 };
    struct portfolio f = { &p, NULL, slot_of, malloc(bytes ? bytes : 1), mapping, { 0, 0 } };
    memcpy(slot_of, p.start, bytes);
    *mapping = (struct nuioa_mapping){ .mapper = "keep", .cost_start = nuioa_cost(&p, p.start) };
    mapping->cost = mapping->bound = mapping->cost_start;
    int rc = f.candidate ? 0 : -ENOMEM;
    if (!rc && p.pair_count) {
        rc = nuioa_graph_make(&p, &graph);
        if (!rc)
            f.graph = p.graph = &graph;
    }
    if (!rc) {
        f.budget.limit = budget_for(&p);
        rc = run(&f);
        mapping->bound = nuioa_cost_bound(&p);
        mapping->evaluations = f.budget.evaluations;
    }
    if (rc == -ETIME)
        memcpy(slot_of, p.start, bytes);
    free(f.candidate);
    nuioa_graph_free(&graph);
    return rc;
}
