/* SPDX-License-Identifier: BSD-3-Clause */

/* Maps random problems and checks each mapping: it is valid, respects kinds and pinned tasks, costs
 * no more than the start, has the cost that is returned, and is the same a second time. For small
 * problems no mapping is better. */
#include <math.h>

#include "mapping/bisect.h"
#include "mapping/descend.h"
#include "mapping/hopsort.h"
#include "mapping/mapping.h"
#include "mapping/neighbourhood_search.h"
#include "mapping/refine.h"
#include "rounds.h"
#include "unit.h"

enum { MOST_TASKS = 48, MOST_SLOTS = 72, MOST_DOMAINS = 12, MOST_PAIRS = 400 };

struct fuzz {
    struct nuioa_problem problem;
    uint64_t random;
    double weight[MOST_TASKS], nic_cost[MOST_SLOTS], domain_cost[MOST_DOMAINS * MOST_DOMAINS];
    uint32_t tie[MOST_SLOTS], domain[MOST_SLOTS], kind[MOST_SLOTS];
    uint32_t task_kind[MOST_TASKS], start[MOST_TASKS];
    bool pinned[MOST_TASKS];
    struct nuioa_pair pairs[MOST_PAIRS];
};

static uint32_t below(struct fuzz *f, uint32_t bound)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return (uint32_t)((f->random >> 32) * bound >> 32);
}

/* Returns a random number of bytes: usually below 1000, sometimes 0, sometimes up to 2^62. */
static double amount(struct fuzz *f)
{
    switch (below(f, 12)) {
    case 0: return 0;
    case 1: return ldexp(1 + below(f, 1000), 52);
    default: return below(f, 1000);
    }
}

static void make_slots(struct fuzz *f, uint32_t kinds, bool uniform)
{
    struct nuioa_problem *p = &f->problem;
    for (uint32_t a = 0; a < p->domain_count; a++)
        for (uint32_t b = 0; b <= a; b++)
            f->domain_cost[a * p->domain_count + b] = f->domain_cost[b * p->domain_count + a] =
                a == b ? 1 - 0.2 * below(f, 2) : 1 + below(f, 4) * 0.5;
    for (uint32_t s = 0; s < p->slot_count; s++) {
        f->domain[s] = below(f, p->domain_count);
        f->nic_cost[s] = 1 + (uniform ? f->domain[s] : below(f, 4)) * 0.1;
        f->tie[s] = below(f, 3);
        f->kind[s] = 7 * below(f, kinds);
    }
}

static void make_tasks(struct fuzz *f, bool pins)
{
    struct nuioa_problem *p = &f->problem;
    uint32_t slot[MOST_SLOTS];
    for (uint32_t s = 0; s < p->slot_count; s++) {
        uint32_t k = below(f, s + 1);
        slot[s] = slot[k];
        slot[k] = s;
    }
    for (uint32_t i = 0; i < p->task_count; i++) {
        f->start[i] = slot[i];
        f->task_kind[i] = f->kind[slot[i]];
        f->pinned[i] = pins && !below(f, 4);
        f->weight[i] = amount(f);
    }
}

static void make_pairs(struct fuzz *f, uint32_t wanted)
{
    struct nuioa_problem *p = &f->problem;
    bool seen[MOST_TASKS][MOST_TASKS] = { { false } };
    for (uint32_t k = 0; k < wanted && p->task_count > 1; k++) {
        uint32_t a = below(f, p->task_count), b = below(f, p->task_count);
        if (a >= b || seen[a][b])
            continue;
        seen[a][b] = true;
        f->pairs[p->pair_count++] = (struct nuioa_pair){ a, b, amount(f) };
    }
}

static void make(struct fuzz *f, uint64_t seed, uint32_t most_tasks, bool pins)
{
    memset(f, 0, sizeof(*f));
    f->random = seed * 0x9e3779b97f4a7c15 + 1;
    struct nuioa_problem *p = &f->problem;
    p->task_count = 1 + below(f, most_tasks);
    p->slot_count = p->task_count + (below(f, 2) ? below(f, most_tasks / 2) : 0);
    p->domain_count = 1 + below(f, MOST_DOMAINS);
    make_slots(f, below(f, 3) ? 1 : 3, below(f, 2));
    make_tasks(f, pins);
    make_pairs(f, below(f, 4) ? below(f, MOST_PAIRS) : 0);
    p->weight = f->weight;
    p->nic_cost = f->nic_cost;
    p->tie = f->tie;
    p->domain = f->domain;
    p->domain_cost = p->pair_count ? f->domain_cost : NULL;
    p->kind = f->kind;
    p->task_kind = f->task_kind;
    p->pinned = pins ? f->pinned : NULL;
    p->start = f->start;
    p->pairs = f->pairs;
}

static void assert_valid(const struct nuioa_problem *p, const uint32_t *slot_of)
{
    bool taken[MOST_SLOTS] = { false };
    for (uint32_t i = 0; i < p->task_count; i++) {
        assert_true(slot_of[i] < p->slot_count);
        assert_false(taken[slot_of[i]]);
        taken[slot_of[i]] = true;
        assert_int_equal(p->kind[slot_of[i]], p->task_kind[i]);
        if (p->pinned && p->pinned[i])
            assert_int_equal(slot_of[i], p->start[i]);
    }
}

static void close_to(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-9);
}

TEST(valid_and_never_worse)
{
    for (uint64_t seed = 1; seed <= rounds(300); seed++) {
        struct fuzz f;
        struct nuioa_mapping mapping, again;
        uint32_t slot_of[MOST_TASKS], same[MOST_TASKS];
        make(&f, seed, MOST_TASKS, seed % 3 == 0);
        assert_int_equal(nuioa_map(&f.problem, slot_of, &mapping), 0);
        assert_valid(&f.problem, slot_of);
        assert_true(mapping.cost <= mapping.cost_start);
        assert_true(mapping.bound <= mapping.cost * (1 + 1e-9));
        close_to(mapping.cost, nuioa_cost(&f.problem, slot_of));
        close_to(mapping.cost_start, nuioa_cost(&f.problem, f.start));
        if (!strcmp(mapping.mapper, "keep"))
            assert_memory_equal(slot_of, f.start, f.problem.task_count * sizeof(*slot_of));
        /* Mapping the result again may lower J further; once it does not, no task moves. */
        memcpy(f.start, slot_of, sizeof(slot_of));
        assert_int_equal(nuioa_map(&f.problem, same, &again), 0);
        assert_true(again.cost <= mapping.cost * (1 + 1e-12));
        memcpy(f.start, same, sizeof(same));
        if (seed % 10)
            continue;
        assert_int_equal(nuioa_map(&f.problem, slot_of, &mapping), 0);
        assert_int_equal(nuioa_map(&f.problem, same, &again), 0);
        assert_memory_equal(slot_of, same, f.problem.task_count * sizeof(*slot_of));
        assert_int_equal(mapping.evaluations, again.evaluations);
    }
}

static bool all_pinned(const struct nuioa_problem *p)
{
    for (uint32_t i = 0; i < p->task_count; i++)
        if (!p->pinned || !p->pinned[i])
            return false;
    return true;
}

/* Runs each mapper alone with a small budget, and then the refinement. */
TEST(every_mapper)
{
    const struct nuioa_mapper *const mappers[] = { &nuioa_hopsort, &nuioa_bisect };
    enum { COUNT = sizeof(mappers) / sizeof(*mappers) };
    uint32_t applied[COUNT] = { 0 };
    for (uint64_t seed = 1000; seed < 1000 + rounds(400); seed++) {
        struct fuzz f;
        struct nuioa_graph graph;
        uint32_t slot_of[MOST_TASKS];
        make(&f, seed, MOST_TASKS, seed % 3 == 0);
        assert_int_equal(nuioa_graph_make(&f.problem, &graph), 0);
        f.problem.graph = &graph;
        for (size_t m = 0; f.problem.pair_count && m < COUNT; m++) {
            struct nuioa_budget budget = { 0, 1 + seed % 5 * 2000 };
            int rc = mappers[m]->map(&f.problem, slot_of, &budget);
            if (rc < 0) {
                assert_true(all_pinned(&f.problem));
                continue;
            }
            applied[m]++;
            assert_valid(&f.problem, slot_of);
            double before = nuioa_cost(&f.problem, slot_of);
            budget = (struct nuioa_budget){ 0, 1 + seed % 7 * 1000 };
            nuioa_refine(&f.problem, slot_of, seed % 2, &budget);
            assert_valid(&f.problem, slot_of);
            assert_true(nuioa_cost(&f.problem, slot_of) <= before * (1 + 1e-12));
        }
        nuioa_graph_free(&graph);
    }
    for (size_t m = 0; m < COUNT; m++)
        assert_true(applied[m] > 5);
}

/* Tries all mappings of the tasks from `next` on; returns the lowest J. */
static double least(const struct fuzz *f, uint32_t *slot_of, bool *taken, uint32_t next,
                    double best)
{
    const struct nuioa_problem *p = &f->problem;
    if (next == p->task_count) {
        double cost = nuioa_cost(p, slot_of);
        return cost < best ? cost : best;
    }
    for (uint32_t s = 0; s < p->slot_count; s++) {
        if (taken[s] || p->kind[s] != p->task_kind[next] ||
            (p->pinned && p->pinned[next] && p->start[next] != s))
            continue;
        taken[s] = true;
        slot_of[next] = s;
        best = least(f, slot_of, taken, next + 1, best);
        taken[s] = false;
    }
    return best;
}

TEST(optimal_when_small)
{
    for (uint64_t seed = 5000; seed < 5000 + rounds(150); seed++) {
        struct fuzz f;
        struct nuioa_mapping mapping;
        uint32_t slot_of[MOST_TASKS], trial[MOST_TASKS];
        bool taken[MOST_SLOTS] = { false };
        make(&f, seed, 6, seed % 3 == 0);
        assert_int_equal(nuioa_map(&f.problem, slot_of, &mapping), 0);
        double best = least(&f, trial, taken, 0, INFINITY);
        if (mapping.cost > best * (1 + 1e-9))
            fail_msg("seed %d: %g, best %g (%s)", (int)seed, mapping.cost, best, mapping.mapper);
    }
}

/* Two tasks and two slots have two mappings: a launch does not wait for the work of larger ones. */
TEST(few_mappings_are_quick)
{
    struct fuzz f;
    struct nuioa_mapping mapping;
    uint32_t slot_of[MOST_TASKS];
    make(&f, 1, 2, false);
    struct nuioa_problem *p = &f.problem;
    p->task_count = p->slot_count = p->domain_count = 2;
    memset(f.kind, 0, sizeof(f.kind));
    memset(f.task_kind, 0, sizeof(f.task_kind));
    f.domain[1] = f.start[1] = p->pair_count = 1;
    f.domain[0] = f.start[0] = 0;
    f.weight[0] = 9, f.weight[1] = 1, f.nic_cost[0] = 2, f.nic_cost[1] = 1;
    const double domain_cost[] = { 1, 2, 2, 1 };
    p->domain_cost = domain_cost;
    f.pairs[0] = (struct nuioa_pair){ 0, 1, 5 };
    assert_int_equal(nuioa_map(p, slot_of, &mapping), 0);
    assert_true(slot_of[0] == 1 && slot_of[1] == 0);
    assert_true(mapping.evaluations < 4000);
}

/* The cost that swaps and moves update agrees with J. */
TEST(assignment_follows_cost)
{
    for (uint64_t seed = 9000; seed < 9000 + rounds(100); seed++) {
        struct fuzz f;
        struct nuioa_graph graph;
        struct nuioa_class_assignment assignment;
        uint32_t slot_of[MOST_TASKS];
        make(&f, seed, MOST_TASKS, seed % 3 == 0);
        assert_int_equal(nuioa_graph_make(&f.problem, &graph), 0);
        assert_int_equal(nuioa_class_assignment_open(&assignment, &graph), 0);
        f.problem.graph = &graph;
        nuioa_assign_slots(&assignment, f.start);
        double fixed =
            nuioa_cost(&f.problem, f.start) - assignment.cost; /* the cost of pinned tasks */
        for (int k = 0; k < 50 && graph.count; k++) {
            uint32_t i = below(&f, graph.count), j = below(&f, graph.count);
            uint32_t c = below(&f, graph.class_count);
            if (assignment.at[i] != assignment.at[j] && graph.kind[i] == graph.kind[j])
                nuioa_class_assignment_swap(&assignment, i, j);
            if (assignment.free_slots[c] && graph.classes[c].kind == graph.kind[i] &&
                assignment.at[i] != c)
                nuioa_class_assignment_move(&assignment, i, c);
        }
        memcpy(slot_of, f.start, sizeof(slot_of));
        assert_int_equal(nuioa_take_slots(&f.problem, assignment.at, slot_of), 0);
        assert_valid(&f.problem, slot_of);
        close_to(nuioa_cost(&f.problem, slot_of), assignment.cost + fixed);
        nuioa_class_assignment_close(&assignment);
        nuioa_graph_free(&graph);
    }
}

/* The descent skips most pairs because of its bounds: no swap and no move may lower J after it. */
static void assert_local_optimum(const struct nuioa_class_assignment *s)
{
    const struct nuioa_graph *g = s->graph;
    for (uint32_t i = 0; i < g->count; i++) {
        for (uint32_t j = 0; j < i; j++)
            if (s->at[i] != s->at[j] && g->kind[i] == g->kind[j])
                assert_true(nuioa_swap_gain(s, i, j, -INFINITY) <= 2 * nuioa_least_gain(s));
        for (uint32_t c = 0; c < g->class_count; c++)
            if (s->free_slots[c] && g->classes[c].kind == g->kind[i])
                assert_true(nuioa_prices(s, i)[s->at[i]] - nuioa_prices(s, i)[c] <=
                            2 * nuioa_least_gain(s));
    }
}

TEST(searches_only_improve)
{
    for (uint64_t seed = 11000; seed < 11000 + rounds(150); seed++) {
        struct fuzz f;
        struct nuioa_graph graph;
        struct nuioa_class_assignment s;
        struct nuioa_random random = { seed };
        struct nuioa_budget budget = { 0, UINT64_MAX };
        uint32_t slot_of[MOST_TASKS];
        make(&f, seed, MOST_TASKS, seed % 3 == 0);
        assert_int_equal(nuioa_graph_make(&f.problem, &graph), 0);
        assert_int_equal(nuioa_class_assignment_open(&s, &graph), 0);
        nuioa_assign_slots(&s, f.start);
        double fixed = nuioa_cost(&f.problem, f.start) - s.cost, before = s.cost;
        assert_int_equal(nuioa_descend(&s, &budget), 0);
        assert_local_optimum(&s);
        assert_true(s.cost <= before + nuioa_least_gain(&s));
        before = s.cost;
        budget.limit = budget.evaluations + 20000;
        if (graph.count)
            assert_int_equal(nuioa_neighbourhood_search(&s, &random, &budget), 0);
        assert_true(s.cost <= before + nuioa_least_gain(&s));
        memcpy(slot_of, f.start, sizeof(slot_of));
        f.problem.graph = &graph;
        assert_int_equal(nuioa_take_slots(&f.problem, s.at, slot_of), 0);
        assert_valid(&f.problem, slot_of);
        close_to(nuioa_cost(&f.problem, slot_of), s.cost + fixed);
        nuioa_class_assignment_close(&s);
        nuioa_graph_free(&graph);
    }
}
