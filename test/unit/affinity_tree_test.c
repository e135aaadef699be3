/* SPDX-License-Identifier: BSD-3-Clause */

/* Tests the affinity tree with the published example of TreeMatch, step by step, and with a matrix
 * for which a permutation and its inverse have different costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/affinity_tree.h"
#include "mapping/group.h"
#include "mapping/mapping.h"

enum { TASKS = 8 };

static const double example[TASKS][TASKS] = {
    { 0, 100, 10, 1, 1000, 1, 1, 1 },   { 100, 0, 100, 1, 1, 1000, 1, 1 },
    { 10, 100, 0, 100, 1, 1, 1000, 1 }, { 1, 1, 100, 0, 1, 1, 1, 1000 },
    { 1000, 1, 1, 1, 0, 100, 10, 1 },   { 1, 1000, 1, 1, 100, 0, 100, 1 },
    { 1, 1, 1000, 1, 10, 100, 0, 100 }, { 1, 1, 1, 1000, 1, 1, 100, 0 },
};

static void group_weight(void **state)
{
    static const uint32_t pair[] = { 0, 1 }, best[] = { 0, 4 };
    (void)state;
    assert_int_equal(nuioa_group_weight(&example[0][0], TASKS, pair, 2), 2118);
    assert_int_equal(nuioa_group_weight(&example[0][0], TASKS, best, 2), 228);
}

static void first_level(void **state)
{
    static const uint32_t expected[TASKS] = { 0, 1, 2, 3, 0, 1, 2, 3 };
    static const double matrix[4][4] = {
        { 0, 202, 22, 4 }, { 202, 0, 202, 4 }, { 22, 202, 0, 202 }, { 4, 4, 202, 0 }
    };
    uint32_t group_of[TASKS];
    double aggregate[4][4];
    (void)state;
    assert_true(nuioa_group_listable(TASKS, 2));
    assert_int_equal(nuioa_group(&example[0][0], TASKS, 2, group_of), 0);
    assert_memory_equal(group_of, expected, sizeof(expected));
    nuioa_aggregate(&example[0][0], TASKS, group_of, 4, &aggregate[0][0]);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            assert_int_equal(aggregate[a][b], matrix[a][b]);
}

static void second_level(void **state)
{
    static const double matrix[4][4] = {
        { 0, 202, 22, 4 }, { 202, 0, 202, 4 }, { 22, 202, 0, 202 }, { 4, 4, 202, 0 }
    };
    static const uint32_t expected[4] = { 0, 0, 1, 1 };
    uint32_t group_of[4];
    double aggregate[2][2];
    (void)state;
    assert_int_equal(nuioa_group(&matrix[0][0], 4, 2, group_of), 0);
    assert_memory_equal(group_of, expected, sizeof(expected));
    nuioa_aggregate(&matrix[0][0], 4, group_of, 2, &aggregate[0][0]);
    assert_int_equal(aggregate[0][0], 0);
    assert_int_equal(aggregate[0][1], 232);
    assert_int_equal(aggregate[1][0], 232);
    assert_int_equal(aggregate[1][1], 0);
}

/* 128 tasks have too many possible groups to list, so groups grow from the heaviest pairs. */
static void grown(void **state)
{
    enum { MANY = 128 };
    static double matrix[MANY][MANY];
    uint32_t group_of[MANY];
    (void)state;
    for (int i = 0; i < MANY; i++)
        for (int j = 0; j < MANY; j++)
            matrix[i][j] = i == j ? 0 : i % 64 == j % 64 ? 1000 : (i + j) % 7;
    assert_false(nuioa_group_listable(MANY, 2));
    assert_int_equal(nuioa_group(&matrix[0][0], MANY, 2, group_of), 0);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(group_of[i], i % 64);
}

/* The machine is a binary tree of eight processors without a NIC. Slots are its leaves from left to
 * right; processor[] has their numbers in the operating system. */
static const uint32_t processor[TASKS] = { 0, 2, 4, 6, 1, 3, 5, 7 };

struct example {
    struct nuioa_problem problem;
    struct nuioa_pair pairs[TASKS * TASKS];
    double domain_cost[16], nic_cost[TASKS], weight[TASKS];
    uint32_t zero[TASKS], domain[TASKS], start[TASKS];
};

static void make(struct example *e, const double matrix[TASKS][TASKS])
{
    memset(e, 0, sizeof(*e));
    e->problem = (struct nuioa_problem){
        .task_count = TASKS,
        .slot_count = TASKS,
        .weight = e->weight,
        .nic_cost = e->nic_cost,
        .tie = e->zero,
        .domain = e->domain,
        .domain_count = 4,
        .domain_cost = e->domain_cost,
        .kind = e->zero,
        .task_kind = e->zero,
        .start = e->start,
        .pairs = e->pairs,
    };
    for (uint32_t i = 0; i < TASKS; i++) {
        e->nic_cost[i] = 1;
        e->domain[i] = i / 2;
        e->start[i] = i;
        for (uint32_t j = i + 1; j < TASKS; j++)
            if (matrix[i][j] > 0)
                e->pairs[e->problem.pair_count++] =
                    (struct nuioa_pair){ i, j, matrix[i][j] + matrix[j][i] };
    }
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t b = 0; b < 4; b++)
            e->domain_cost[a * 4 + b] = a == b ? 0.6 : a / 2 == b / 2 ? 1.0 : 2.1;
}

static void worked_example(void **state)
{
    static const uint32_t expected[TASKS] = { 0, 4, 1, 5, 2, 6, 3, 7 };
    struct example e;
    struct nuioa_mapping mapping;
    struct nuioa_budget budget = { 0, UINT64_MAX };
    uint32_t slot_of[TASKS];
    (void)state;
    make(&e, example);
    assert_int_equal(nuioa_affinity_tree.map(&e.problem, slot_of, &budget), 0);
    for (uint32_t i = 0; i < TASKS; i++)
        assert_int_equal(processor[slot_of[i]], expected[i]);
    assert_int_equal(nuioa_map(&e.problem, slot_of, &mapping), 0);
    assert_string_equal(mapping.mapper, "tree");
    for (uint32_t i = 0; i < TASKS; i++)
        assert_int_equal(processor[slot_of[i]], expected[i]);
}

/* In the example the inverse permutation costs the same; with this matrix it costs more. */
static void asymmetric(void **state)
{
    static const uint32_t leaves[TASKS] = { 0, 3, 4, 7, 1, 6, 2, 5 }; /* tasks, left to right */
    double matrix[TASKS][TASKS] = { { 0 } };
    uint32_t slot_of[TASKS], inverse[TASKS];
    struct example e;
    struct nuioa_mapping mapping;
    (void)state;
    for (uint32_t k = 0; k < TASKS; k++)
        for (uint32_t l = 0; l < TASKS; l++)
            if (k != l)
                matrix[leaves[k]][leaves[l]] = k / 2 == l / 2 ? 1000 : k / 4 == l / 4 ? 100 : 1;
    make(&e, matrix);
    assert_int_equal(nuioa_map(&e.problem, slot_of, &mapping), 0);
    for (uint32_t k = 0; k < TASKS; k++) {
        assert_int_equal(slot_of[leaves[k]], k);
        inverse[slot_of[k]] = k;
    }
    assert_true(nuioa_cost(&e.problem, inverse) > 1.2 * mapping.cost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_weight),   cmocka_unit_test(first_level),
        cmocka_unit_test(second_level),   cmocka_unit_test(grown),
        cmocka_unit_test(worked_example), cmocka_unit_test(asymmetric),
    };
    return cmocka_run_group_tests_name("affinity tree", tests, NULL, NULL);
}
