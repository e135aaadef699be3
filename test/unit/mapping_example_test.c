/* SPDX-License-Identifier: BSD-3-Clause */

/* Maps the published example of TreeMatch (E. Jeannot, G. Mercier, "Near-Optimal Placement of MPI
 * Processes on Hierarchical NUMA Architectures", 2010), however its tasks are numbered, and a
 * matrix for which a permutation and its inverse have different costs. */

#include "mapping/mapping.h"
#include "mapping/random.h"
#include "rounds.h"
#include "unit.h"

enum { TASKS = 8 };

static const double example[TASKS][TASKS] = {
    { 0, 100, 10, 1, 1000, 1, 1, 1 },   { 100, 0, 100, 1, 1, 1000, 1, 1 },
    { 10, 100, 0, 100, 1, 1, 1000, 1 }, { 1, 1, 100, 0, 1, 1, 1, 1000 },
    { 1000, 1, 1, 1, 0, 100, 10, 1 },   { 1, 1000, 1, 1, 100, 0, 100, 1 },
    { 1, 1, 1000, 1, 10, 100, 0, 100 }, { 1, 1, 1, 1000, 1, 1, 100, 0 },
};

/* The machine is a binary tree of eight processors without a NIC. Slots are its leaves from left to
 * right. */
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

/* The published result: 0 with 4 and 1 with 5 are one half, 2 with 6 and 3 with 7 the other.
 * label[] is the number of each task. */
static void assert_solved(const uint32_t *label)
{
    double matrix[TASKS][TASKS];
    uint32_t slot_of[TASKS];
    struct example e;
    struct nuioa_mapping mapping;
    for (uint32_t i = 0; i < TASKS; i++)
        for (uint32_t j = 0; j < TASKS; j++)
            matrix[label[i]][label[j]] = example[i][j];
    make(&e, matrix);
    assert_int_equal(nuioa_map(&e.problem, slot_of, &mapping), 0);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t slot = slot_of[label[i]];
        assert_int_equal(slot / 2, slot_of[label[i + 4]] / 2);
        assert_int_equal(slot / 4 == slot_of[label[0]] / 4, i < 2);
    }
}

TEST(any_labelling)
{
    uint32_t label[TASKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    struct nuioa_random random = { 1 };
    for (uint64_t k = 0; k < rounds(200); k++) {
        assert_solved(label);
        for (uint32_t i = TASKS; i > 1; i--) {
            uint32_t other = nuioa_random_below(&random, i), number = label[i - 1];
            label[i - 1] = label[other];
            label[other] = number;
        }
    }
}

/* In the example the inverse permutation costs the same; with this matrix it costs more. */
TEST(asymmetric)
{
    static const uint32_t leaves[TASKS] = { 0, 3, 4, 7, 1, 6, 2, 5 }; /* tasks, left to right */
    double matrix[TASKS][TASKS] = { { 0 } };
    uint32_t slot_of[TASKS];
    struct example e;
    struct nuioa_mapping mapping;
    for (uint32_t k = 0; k < TASKS; k++)
        for (uint32_t l = 0; l < TASKS; l++)
            if (k != l)
                matrix[leaves[k]][leaves[l]] = k / 2 == l / 2 ? 1000 : k / 4 == l / 4 ? 100 : 1;
    make(&e, matrix);
    assert_int_equal(nuioa_map(&e.problem, slot_of, &mapping), 0);
    assert_true(nuioa_cost(&e.problem, leaves) > 1.2 * mapping.cost);
    for (uint32_t k = 0; k < TASKS; k += 2) {
        assert_int_equal(slot_of[leaves[k]] / 2, slot_of[leaves[k + 1]] / 2);
        assert_int_equal(slot_of[leaves[k]] / 4 == slot_of[leaves[0]] / 4, k < 4);
    }
}
