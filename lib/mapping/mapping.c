/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/bisect.h"
#include "mapping/graph.h"
#include "mapping/hopsort.h"
#include "mapping/load_first.h"
#include "mapping/load_search.h"
#include "mapping/refine.h"
#include "util/clock.h"

/* The mappers in the order in which they run; the first of equal results wins. `until` is the tenth
 * of the budget at which a mapper must stop. The next mapper may use what one leaves; polish() uses
 * the rest. */
static const struct entry {
    const struct nuioa_mapper *mapper;
    uint32_t until;
} with_pairs[] = { { &nuioa_hopsort, 1 }, { &nuioa_bisect, 6 } },
  weights_only[] = { { &nuioa_hopsort, 10 } };

struct portfolio {
    const struct nuioa_problem *problem;
    uint32_t *slot_of; /* the best so far */
    uint32_t *candidate;
    struct nuioa_mapping *mapping;
    struct nuioa_budget budget;
};

static uint64_t budget_for_size(uint64_t n)
{
    uint64_t square = n * n;
    if (n <= 128)
        return n <= 32 ? 400000 : 250000;
    return 40 * square < 3400000 ? 40 * square : 3400000;
}

/* Returns the budget in evaluations. Small problems get enough to find the optimum, larger ones
 * what takes about 8 ms with 128 tasks and 80 ms with 512. Where few mappings differ, as with two
 * tasks, some hundred evaluations for each of them are enough: there are at most as many as the
 * number of classes to the power of the number of tasks. */
static uint64_t budget_for(const struct nuioa_problem *p)
{
    uint64_t limit = p->effort ? p->effort : budget_for_size(p->task_count), few = 400;
    for (uint32_t i = 0; p->graph && i < p->graph->count && few < limit; i++)
        few *= p->graph->class_count;
    return few < limit ? few : limit;
}

/* Returns a cost that compares mappings of equal J: it is lower if heavy tasks have the nearer
 * CPUs. */
static double tie_cost(const struct nuioa_problem *p, const uint32_t *slot_of)
{
    double cost = 0;
    for (uint32_t i = 0; i < p->task_count; i++)
        cost += p->weight[i] * p->tie[slot_of[i]];
    return cost;
}

/* Keeps the candidate if it is better than the best mapping so far, and returns whether it is;
 * `name` is its mapper, for people. */
static bool consider(struct portfolio *f, const char *name)
{
    double cost = nuioa_cost(f->problem, f->candidate);
    /* A rounding error is no reason to move a task. */
    double rounding = 1e-12 * f->mapping->cost_start;
    bool better = cost < f->mapping->cost - rounding;
    if (!better && !f->problem->graph && cost <= f->mapping->cost + rounding)
        better = tie_cost(f->problem, f->candidate) < tie_cost(f->problem, f->slot_of) - rounding;
    if (!better)
        return false;
    memcpy(f->slot_of, f->candidate, f->problem->task_count * sizeof(*f->slot_of));
    f->mapping->cost = cost;
    f->mapping->mapper = name;
    f->mapping->kept = f->mapping->by_load = false;
    return true;
}

static void try_mapper(struct portfolio *f, const struct entry *entry)
{
    struct nuioa_budget part = { f->budget.evaluations, f->budget.limit / 10 * entry->until };
    if (entry->mapper->map(f->problem, f->candidate, &part) >= 0) {
        if (f->problem->graph)
            nuioa_refine(f->problem, f->candidate, false, &part);
        consider(f, entry->mapper->name);
    }
    f->budget.evaluations = part.evaluations;
}

/* Spends the rest of the budget on the best mapping. */
static void polish(struct portfolio *f)
{
    if (f->mapping->kept)
        return;
    memcpy(f->candidate, f->slot_of, f->problem->task_count * sizeof(*f->candidate));
    nuioa_refine(f->problem, f->candidate, true, &f->budget);
    consider(f, f->mapping->mapper);
}

static bool is_late(const struct nuioa_problem *p)
{
    return p->cpu_until_us && nuioa_cpu_us() > p->cpu_until_us;
}

/* The budget ends each mapper. The clock is a second limit, in case an evaluation takes much longer
 * than expected. */
static int run(struct portfolio *f)
{
    if (!f->problem->graph) {
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

/* Searches from the mapping in f->candidate with a budget of its own. `name` is the mapper that has
 * made it; NULL: it was made, or is searched, by load only. */
static void try_load_search(struct portfolio *f, const char *name, bool thorough)
{
    struct nuioa_budget budget = { 0, f->problem->task_count <= NUIOA_LOAD_SMALL ? 100000 : 40000 };
    if (nuioa_load_search(f->problem, f->candidate, thorough, &budget) == 0 &&
        consider(f, name ? name : nuioa_load_first.name)) {
        f->mapping->balanced = true;
        f->mapping->by_load = !name;
    }
    f->budget.evaluations += budget.evaluations;
}

/* Looks for a lower J with the load of cards in it. The searches begin with the best mapping
 * without it, which is in f->slot_of, with Slurm's, and with one made by load; then with the best
 * so far. */
static void run_with_load(struct portfolio *f)
{
    const struct nuioa_problem *p = f->problem;
    const size_t bytes = p->task_count * sizeof(*f->slot_of);
    const char *name = f->mapping->kept ? NULL : f->mapping->mapper;
    memcpy(f->candidate, f->slot_of, bytes);
    memcpy(f->slot_of, p->start, bytes);
    f->mapping->mapper = "keep";
    f->mapping->kept = true;
    f->mapping->cost = f->mapping->cost_start = nuioa_cost(p, p->start);
    if (name)
        consider(f, name);
    try_load_search(f, name, false);
    if (name) {
        memcpy(f->candidate, p->start, bytes);
        try_load_search(f, NULL, false);
    }
    if (nuioa_load_first.map(p, f->candidate, &f->budget) == 0)
        try_load_search(f, NULL, false);
    if (p->task_count > NUIOA_LOAD_SMALL)
        return;
    memcpy(f->candidate, f->slot_of, bytes);
    try_load_search(f, f->mapping->kept || f->mapping->by_load ? NULL : f->mapping->mapper, true);
}

int nuioa_map(const struct nuioa_problem *problem, uint32_t *slot_of, struct nuioa_mapping *mapping)
{
    size_t bytes = problem->task_count * sizeof(*slot_of);
    struct nuioa_problem p = *problem;
    struct nuioa_graph graph = { 0 };
    struct portfolio f = { &p, slot_of, malloc(bytes ? bytes : 1), mapping, { 0, 0 } };
    memcpy(slot_of, p.start, bytes);
    *mapping = (struct nuioa_mapping){
        .mapper = "keep",
        .kept = true,
        .cost_start = nuioa_cost(&p, p.start),
    };
    p.load = NULL;
    p.graph = NULL;
    mapping->cost = mapping->bound = nuioa_cost(&p, p.start);
    int rc = f.candidate ? 0 : -ENOMEM;
    if (!rc && p.pair_count) {
        rc = nuioa_graph_make(&p, &graph);
        p.graph = &graph;
    }
    if (!rc) {
        f.budget.limit = budget_for(&p);
        rc = run(&f);
        p.load = problem->load;
        if (rc == 0 && p.load)
            run_with_load(&f);
        mapping->bound = nuioa_cost_bound(&p);
        mapping->evaluations = f.budget.evaluations;
    }
    if (rc == -ETIME)
        memcpy(slot_of, p.start, bytes);
    free(f.candidate);
    nuioa_graph_free(&graph);
    return rc;
}
