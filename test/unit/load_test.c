/* SPDX-License-Identifier: BSD-3-Clause */

/* The load of several NICs in J: random small nodes are compared with brute force and with the
 * bound. Random numbers are from fixed seeds. */
#include <math.h>

#include "mapping/load.h"
#include "mapping/mapping.h"
#include "rounds.h"
#include "unit.h"

enum { TASKS = 8, NUMAS = 4, PAIRS = TASKS * (TASKS - 1) / 2, INSTANCES = 500 };

struct instance {
    struct nuioa_problem problem;
    struct nuioa_load load;
    uint64_t random;
    double weight[TASKS], nic_cost[TASKS], domain_cost[NUMAS * NUMAS];
    double part[NUMAS], fixed[NUMAS];
    uint64_t near[TASKS];
    uint32_t order[TASKS], tie[TASKS], domain[TASKS], kind[TASKS], start[TASKS], class_of[TASKS];
    struct nuioa_pair pairs[PAIRS];
};

static uint32_t below(struct instance *in, uint32_t bound)
{
    in->random ^= in->random << 13;
    in->random ^= in->random >> 7;
    in->random ^= in->random << 17;
    return (uint32_t)((in->random >> 32) * bound >> 32);
}

/* NUMA nodes in a row or a ring, with 1.6 for the first link and 0.5 for each further one. */
static void make_domains(struct instance *in, uint32_t numas)
{
    bool ring = below(in, 2);
    for (uint32_t a = 0; a < numas; a++)
        for (uint32_t b = 0; b < numas; b++) {
            uint32_t links = a > b ? a - b : b - a;
            if (ring && links > numas / 2)
                links = numas - links;
            in->domain_cost[a * numas + b] = links ? 1.1 + 0.5 * links : 1;
        }
}

/* Cards on different NUMA nodes; some have twice the rate, and some a load that stays. */
static void make_cards(struct instance *in, uint32_t numas, uint32_t cards, uint32_t *at)
{
    double sum = 0;
    bool used[NUMAS] = { false };
    for (uint32_t c = 0; c < cards; c++) {
        do
            at[c] = below(in, numas);
        while (used[at[c]]);
        used[at[c]] = true;
        in->part[c] = 1 + (below(in, 3) == 0);
        in->fixed[c] = below(in, 8) ? 0 : below(in, 20);
        sum += in->part[c];
    }
    for (uint32_t c = 0; c < cards; c++)
        in->part[c] /= sum;
}

static void make_slots(struct instance *in, uint32_t numas, uint32_t cards, const uint32_t *at)
{
    uint32_t each = in->problem.slot_count / numas;
    for (uint32_t s = 0; s < in->problem.slot_count; s++) {
        const double *row = in->domain_cost + (s / each) * numas;
        double nearest = INFINITY;
        in->domain[s] = s / each;
        in->start[s] = s;
        for (uint32_t c = 0; c < cards; c++)
            nearest = fmin(nearest, row[at[c]]);
        for (uint32_t c = 0; c < cards; c++)
            if (row[at[c]] <= nearest)
                in->near[s] |= UINT64_C(1) << c;
        in->nic_cost[s] = nearest > 1 ? 1.3 + 0.1 * (nearest - 1.6) : 1;
    }
}

/* Weights from 1 to 9, a few heavy ranks, weights from 1 to 1000, or all equal. */
static void make_weights(struct instance *in, bool pairs)
{
    uint32_t style = below(in, 4), n = in->problem.task_count;
    for (uint32_t i = 0; i < n; i++) {
        in->weight[i] = style == 0   ? 1 + below(in, 9)
                        : style == 1 ? (below(in, 3) ? 0 : 9)
                        : style == 2 ? 1 + below(in, 1000)
                                     : 5;
        uint32_t k = i;
        for (; k > 0 && in->weight[i] > in->weight[in->order[k - 1]]; k--)
            in->order[k] = in->order[k - 1];
        in->order[k] = i;
    }
    for (uint32_t a = 0; pairs && a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            if (below(in, 3) == 0)
                in->pairs[in->problem.pair_count++] =
                    (struct nuioa_pair){ a, b, below(in, style == 2 ? 1000 : 9) };
}

static void make(struct instance *in, uint64_t seed, bool pairs)
{
    *in = (struct instance){ .random = seed * 0x9e3779b97f4a7c15 + 1 };
    for (int k = 0; k < 5; k++)
        below(in, 2);
    uint32_t numas = 2 + below(in, 3), each = numas == 2 ? 2 + below(in, 3) : 2, at[NUMAS];
    uint32_t cards = 2 + below(in, numas - 1);
    struct nuioa_problem *p = &in->problem;
    p->task_count = p->slot_count = numas * each;
    make_domains(in, numas);
    make_cards(in, numas, cards, at);
    make_slots(in, numas, cards, at);
    make_weights(in, pairs);
    in->load =
        (struct nuioa_load){ 1, cards, in->part, in->near, in->weight, in->order, in->fixed };
    p->weight = in->weight;
    p->nic_cost = in->nic_cost;
    p->tie = in->tie;
    p->domain = in->domain;
    p->domain_count = numas;
    p->domain_cost = in->domain_cost;
    p->kind = p->task_kind = in->kind;
    p->start = in->start;
    p->pairs = in->pairs;
    p->load = &in->load;
    uint32_t first[TASKS];
    nuioa_number_classes(p, in->class_of, first);
}

/* Tries all mappings of the tasks from `next` on, one of those that differ by equal slots; returns
 * the lowest J. */
static double least(const struct instance *in, uint32_t *slot_of, bool *taken, uint32_t next,
                    double best)
{
    const struct nuioa_problem *p = &in->problem;
    bool tried[TASKS] = { false };
    if (next == p->task_count)
        return fmin(best, nuioa_cost(p, slot_of));
    for (uint32_t s = 0; s < p->slot_count; s++) {
        if (taken[s] || tried[in->class_of[s]])
            continue;
        taken[s] = tried[in->class_of[s]] = true;
        slot_of[next] = s;
        best = least(in, slot_of, taken, next + 1, best);
        taken[s] = false;
    }
    return best;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void against_brute_force(bool pairs)
{
    double gap[INSTANCES], worst = 0;
    unsigned count = (unsigned)rounds(INSTANCES), optimal = 0, reached = 0;
    for (unsigned k = 0; k < count; k++) {
        struct instance in;
        struct nuioa_mapping m;
        uint32_t slot_of[TASKS], again[TASKS], trial[TASKS];
        bool taken[TASKS] = { false };
        make(&in, k + 1, pairs);
        assert_int_equal(nuioa_map(&in.problem, slot_of, &m), 0);
        double best = least(&in, trial, taken, 0, INFINITY);
        assert_true(fabs(m.cost - nuioa_cost(&in.problem, slot_of)) <= 1e-9 * m.cost);
        assert_true(m.cost <= m.cost_start * (1 + 1e-12));
        assert_true(m.cost >= best * (1 - 1e-9));
        assert_true(m.bound <= best * (1 + 1e-9));
        optimal += m.cost <= best * (1 + 1e-9);
        reached += m.cost <= m.bound * (1 + 1e-9);
        worst = fmax(worst, best > 0 ? m.cost / best - 1 : 0);
        gap[k] = m.bound > 0 ? m.cost / m.bound - 1 : 0;
        struct nuioa_mapping same;
        assert_int_equal(nuioa_map(&in.problem, again, &same), 0);
        assert_memory_equal(slot_of, again, in.problem.task_count * sizeof(*slot_of));
    }
    qsort(gap, count, sizeof(*gap), ascending);
    printf("%s: %u instances, %u optimal (worst %.2f %% above), %u equal to the bound, gap to the "
           "bound: median %.2f %%, 90 of 100 below %.2f %%\n",
           pairs ? "with pairs" : "weights only", count, optimal, 100 * worst, reached,
           100 * gap[count / 2], 100 * gap[count * 9 / 10]);
    assert_true(optimal >= count * 9 / 10);
    /* With pairs the bound is loose: each pays the least price of any two domains. */
    assert_true(gap[count / 2] <= (pairs ? 0.2 : 0.05));
}

TEST(test_weights)
{
    against_brute_force(false);
}

TEST(test_pairs)
{
    against_brute_force(true);
}

/* Larger nodes, where the optimum is not known: J is above neither Slurm's nor hop-sorted's, and
 * near the bound. */
TEST(test_large)
{
    for (uint32_t n = 64; n <= 512; n *= 2) {
        struct nuioa_mapping m, apart;
        double *weight = calloc(n, sizeof(*weight)), *nic_cost = calloc(n, sizeof(*nic_cost));
        uint32_t *numbers = calloc(6 * (size_t)n, sizeof(*numbers));
        uint64_t *near = calloc(n, sizeof(*near));
        const double part[] = { 0.25, 0.25, 0.5 }, fixed[] = { 0, 0, 0 };
        uint32_t *order = numbers + n, *start = order + n, *slot_of = start + n;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t numa = i / (n / 4), k = i;
            start[i] = i;
            weight[i] = 1 + (i * 2654435761u >> 20) % 1000;
            nic_cost[i] = numa < 3 ? 1 : 1.3;
            near[i] = numa < 3 ? UINT64_C(1) << numa : 7;
            for (; k > 0 && weight[i] > weight[order[k - 1]]; k--)
                order[k] = order[k - 1];
            order[k] = i;
        }
        struct nuioa_load load = { 1, 3, part, near, weight, order, fixed };
        struct nuioa_problem p = { .task_count = n,
                                   .slot_count = n,
                                   .weight = weight,
                                   .nic_cost = nic_cost,
                                   .tie = numbers,
                                   .domain = numbers,
                                   .domain_count = 1,
                                   .kind = numbers,
                                   .task_kind = numbers,
                                   .start = start };
        assert_int_equal(nuioa_map(&p, slot_of, &apart), 0);
        p.load = &load;
        double hopsort = nuioa_cost(&p, slot_of);
        assert_int_equal(nuioa_map(&p, slot_of, &m), 0);
        assert_true(m.cost <= m.cost_start && m.cost <= hopsort);
        assert_true(m.bound <= m.cost && m.cost <= 1.05 * m.bound);
        printf("%u tasks: %.6g, hop-sorted %.6g, bound %.6g\n", n, m.cost, hopsort, m.bound);
        free(weight);
        free(nic_cost);
        free(numbers);
        free(near);
    }
}
