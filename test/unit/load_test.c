/* SPDX-License-Identifier: BSD-3-Clause */

/* The load of several NICs in J: random small nodes against brute force and against the bound, and
 * cases whose answer is known. Random numbers are from fixed seeds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"
#include "mapping/load.h"
#include "mapping/mapping.h"
#include "plan_case.h"
#include "rounds.h"

/* --- random nodes ----------------------------------------------------------------------------- */

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

/* Cards on different NUMA nodes; some have twice the rate, and some a load of other steps. */
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
    assert_true(reached >= count / 2);
    assert_true(gap[count / 2] <= 0.05);
}

static void test_weights(void **state)
{
    (void)state;
    against_brute_force(false);
}

static void test_pairs(void **state)
{
    (void)state;
    against_brute_force(true);
}

/* Larger nodes, where the optimum is not known: J is above neither Slurm's nor hop-sorted's, and
 * near the bound. */
static void test_large(void **state)
{
    (void)state;
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

/* --- plans ------------------------------------------------------------------------------------ */

/* NUMA nodes of four cores; NICs a, b, ... with these rates (Mb/s) at these NUMA nodes. */
static struct plan_case *node_of(unsigned numas, unsigned nics, const uint32_t *rates,
                                 const unsigned *at, unsigned tasks, const double *weights)
{
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){
                                .numas = numas,
                                .cores = 4,
                                .threads = 1,
                                .numas_per_package = 1,
                            });
    for (unsigned k = 0; k < nics; k++)
        machine_nic(&s->node, (char[]){ (char)('a' + k), '\0' }, at[k])->rate_mbps = rates[k];
    plan_case_on(s, tasks, 4 * numas / tasks);
    plan_case_weigh(s, weights);
    return s;
}

static double load_of(const struct plan_case *s, int nic)
{
    double sum = 0;
    for (unsigned i = 0; i < s->plan.task_count; i++)
        sum += s->plan.assignments[i].nic == nic ? s->plan.assignments[i].weight : 0;
    return sum;
}

/* Four equal rails, four equal ranks: four NICs, wherever the NICs are. */
static void test_four_ranks_four_rails(void **state)
{
    (void)state;
    static const uint32_t rates[] = { 100000, 100000, 100000, 100000 };
    static const double weights[] = { 5, 5, 5, 5 };
    static const unsigned places[][4] = { { 0, 1, 2, 3 }, { 0, 0, 1, 1 }, { 2, 2, 2, 2 } };
    for (unsigned k = 0; k < 3; k++) {
        unsigned numas = k == 1 ? 2 : 4;
        struct plan_case *s = node_of(numas, 4, rates, places[k], 4, weights);
        plan_case_make(s);
        for (int nic = 0; nic < 4; nic++)
            assert_float_equal(load_of(s, nic), 5, 0);
        assert_float_equal(s->plan.load_after.ratio, 1, 1e-9);
        assert_float_equal(s->plan.load_after.cost, 0, 1e-9);
        plan_case_free(s);
    }
}

/* Returns the weight of the heaviest `count` of eight ranks. */
static double heaviest(const double *weights, unsigned count)
{
    double sorted[8], sum = 0;
    memcpy(sorted, weights, sizeof(sorted));
    qsort(sorted, 8, sizeof(*sorted), ascending);
    for (unsigned i = 0; i < count; i++)
        sum += sorted[7 - i];
    return sum;
}

/* Rails 2:1 carry weight 2:1, within the heaviest rank's weight; on one NUMA node and on two. */
static void test_by_rate(void **state)
{
    (void)state;
    static const uint32_t rates[] = { 200000, 100000 };
    static const unsigned places[][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 } };
    for (unsigned k = 0; k < 3; k++)
        for (unsigned seed = 1; seed <= 20; seed++) {
            double weights[8], sum = 0, most = 0;
            for (unsigned i = 0; i < 8; i++) {
                weights[i] = 1 + seed * (i + 3) * 7 % 23;
                sum += weights[i];
                most = fmax(most, weights[i]);
            }
            struct plan_case *s = node_of(2, 2, rates, places[k], 8, weights);
            plan_case_option(s, "nic", "a,b");
            plan_case_make(s);
            /* The four cores beside the fast NIC may be too few for two thirds of the weight. */
            if (load_of(s, 0) < fmin(heaviest(weights, 4), 2 * sum / 3) - most ||
                load_of(s, 0) > 2 * sum / 3 + most)
                fail_msg("case %u, seed %u: %g of %g", k, seed, load_of(s, 0), sum);
            assert_true(s->plan.mapping.cost <= s->plan.mapping.bound * (1 + 1e-9) || !k);
            plan_case_free(s);
        }
}

/* All heavy ranks are beside one of two NICs: half of the weight goes to the other one, although
 * each rank is beside a NIC already. A price of 0 leaves them where they are. */
static void test_crowded_nic(void **state)
{
    (void)state;
    static const uint32_t rates[] = { 100000, 100000 };
    static const double weights[8] = { 4, 4, 4, 4 };
    struct plan_case *s = node_of(2, 2, rates, (const unsigned[]){ 0, 1 }, 8, weights);
    plan_case_make(s);
    assert_float_equal(load_of(s, 0), 8, 0);
    assert_float_equal(load_of(s, 1), 8, 0);
    assert_float_equal(s->plan.mapping.cost_start, 32, 1e-9);
    assert_float_equal(s->plan.mapping.cost, 16, 1e-9);
    assert_float_equal(s->plan.mapping.bound, 16, 1e-9);
    assert_float_equal(s->plan.load_before.ratio, 2, 1e-9);
    s->options.load_cost = 0;
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_float_equal(s->plan.load_after.ratio, 2, 1e-9);
    plan_case_free(s);
}

/* A rank goes one level farther only if that lowers J: three NUMA nodes in a row, NICs on the first
 * and the last; ranks between them can use both. */
static void test_farther_if_it_pays(void **state)
{
    (void)state;
    static const uint32_t matrix[] = { 10, 16, 22, 16, 10, 16, 22, 16, 10 };
    static const double weights[6] = { 6, 6, 6, 0, 0, 0 };
    for (unsigned k = 0; k < 2; k++) {
        struct plan_case *s = plan_case_new();
        machine_build(
            &s->node,
            &(struct shape){
                .numas = 3, .cores = 2, .threads = 1, .numas_per_package = 1, .matrix = matrix });
        machine_nic(&s->node, "a", 0);
        machine_nic(&s->node, "b", 2);
        plan_case_on(s, 6, 1);
        plan_case_weigh(s, weights);
        s->options.load_cost = k ? 1 : 0;
        plan_case_make(s);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(s->plan.assignments[i].level, 0);
        /* One NIC has two of three equal ranks at the least. */
        assert_float_equal(s->plan.load_after.ratio, 4.0 / 3, 1e-9);
        plan_case_free(s);
    }
}

/* Unknown rates are equal, and two ports of a card are one resource. */
static void test_rates_and_ports(void **state)
{
    (void)state;
    static const uint32_t rates[] = { 0, 400000 };
    static const double weights[8] = { 4, 4, 4, 4 };
    struct plan_case *s = node_of(2, 2, rates, (const unsigned[]){ 0, 1 }, 8, weights);
    plan_case_option(s, "nic", "a,b");
    plan_case_make(s);
    assert_float_equal(s->plan.load_after.ratio, 1, 1e-9);
    assert_float_equal(load_of(s, 0), 8, 0);
    s->node.nics[1].card = s->node.nics[0].card;
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_float_equal(s->plan.load_after.ratio, 0, 0);
    plan_case_free(s);
}

/* A card has the rate of its faster port, and a rank uses several NICs by their rates. */
static void test_unlike_ports_and_nics(void **state)
{
    (void)state;
    static const double weights[2] = { 1, 1 };
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 1, 2, 1, 1, NULL });
    static const char *const names[] = { "a", "b", "c" };
    for (unsigned n = 0; n < 3; n++)
        machine_nic(&s->node, names[n], 0);
    s->node.nics[1].rate_mbps = 25000;
    s->node.nics[1].card = s->node.nics[0].card;
    plan_case_on(s, 2, 1);
    plan_case_weigh(s, weights);
    plan_case_option(s, "nic", "a,b,c");
    plan_case_option(s, "rails", "1");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0;2");
    assert_float_equal(s->plan.load_after.ratio, 1, 1e-9);

    s->node.nics[1].card = 1;
    plan_case_option(s, "rails", "3");
    plan_case_make(s);
    assert_float_equal(s->plan.load_after.ratio, 1, 1e-9);
    plan_case_free(s);
}

/* The NICs of ranks with GPUs do not follow from their CPUs, so that no bound is known. */
static void test_no_bound_with_gpus(void **state)
{
    (void)state;
    static const double weights[4] = { 4, 3, 2, 1 };
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 2, 2, 1, 1, NULL });
    for (unsigned n = 0; n < 2; n++) {
        machine_nic(&s->node, n ? "b" : "a", n);
        machine_gpu(&s->node, n);
    }
    plan_case_on(s, 4, 1);
    plan_case_weigh(s, weights);
    plan_case_make(s);
    assert_true(s->plan.bound_known);
    plan_case_gpus(s, "0;1;1;0");
    plan_case_option(s, "nuioa", "force");
    plan_case_option(s, "gpus", "keep");
    plan_case_make(s);
    assert_false(s->plan.bound_known);
    plan_case_free(s);
}

/* Makes a plan with these masks of one CPU each, and compares J. */
static void check_cost(struct plan_case *s, unsigned tasks, const unsigned *cpus,
                       const double *weights, double cost)
{
    for (unsigned i = 0; i < tasks; i++)
        hwloc_bitmap_only(s->masks[i], cpus[i]);
    plan_case_weigh(s, weights);
    plan_case_make(s);
    assert_float_equal(s->plan.mapping.cost, cost, 1e-9);
    plan_case_free(s);
}

/* The traffic of a rank with a GPU stays on the NIC of the GPU, wherever others go. */
static void test_traffic_of_gpus(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 2, 8, 1, 1, NULL });
    static const char *const names[] = { "a", "b", "c", "d" };
    for (unsigned n = 0; n < 4; n++)
        machine_nic(&s->node, names[n], n / 2);
    machine_gpu(&s->node, 1);
    machine_gpu(&s->node, 1);
    for (unsigned g = 0; g < 2; g++)
        for (unsigned n = 0; n < 4; n++)
            machine_path(&s->node, g, n, n < 2 ? NUIOA_PATH_SYS : NUIOA_PATH_PHB);
    plan_case_on(s, 5, 1);
    plan_case_gpus(s, "0;1;;1;");
    plan_case_option(s, "gpus", "follow");
    check_cost(s, 5, (const unsigned[]){ 5, 3, 7, 2, 12 }, (const double[]){ 5, 1, 1, 2, 5 }, 20.9);
}

/* With rails=K, ranks have NICs beside the nearest, too. */
static void test_farther_rails(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 4, 8, 1, 1, NULL });
    machine_nic(&s->node, "a", 0);
    machine_nic(&s->node, "b", 3);
    plan_case_on(s, 6, 1);
    plan_case_option(s, "rails", "2");
    check_cost(s, 6, (const unsigned[]){ 22, 13, 11, 6, 21, 5 },
               (const double[]){ 2, 5, 2, 5, 9, 1 }, 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traffic_of_gpus),
        cmocka_unit_test(test_farther_rails),
        cmocka_unit_test(test_no_bound_with_gpus),
        cmocka_unit_test(test_unlike_ports_and_nics),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_four_ranks_four_rails),
        cmocka_unit_test(test_by_rate),
        cmocka_unit_test(test_crowded_nic),
        cmocka_unit_test(test_farther_if_it_pays),
        cmocka_unit_test(test_rates_and_ports),
    };
    return cmocka_run_group_tests_name("load of NICs", tests, NULL, NULL);
}
