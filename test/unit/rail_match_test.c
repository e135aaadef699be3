/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact_matching.h"
#include "nics/rail_match.h"
#include "unit.h"

/* The matching of ranks with NICs, held against an exact one. */

/* Sets what is used for one random problem, and returns it. */
static void random_problem(struct exact_matching *o, bool *allowed, unsigned users,
                           unsigned machines)
{
    *o = (struct exact_matching){ .users = users, .machines = machines };
    for (unsigned u = 0; u < users; u++) {
        unsigned must = (unsigned)random() % machines;
        for (unsigned m = 0; m < machines; m++)
            o->allowed[u][m] = allowed[u * machines + m] = m == must || random() % 4 == 0;
    }
}

TEST(test_matching)
{
    srandom(4);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned users = 1 + (unsigned)random() % 40, machines = 1 + (unsigned)random() % 12;
        bool allowed[64 * 64];
        double weight[64], rate[64], load[64] = { 0 };
        uint32_t machine_of_user[64];
        struct exact_matching o;
        random_problem(&o, allowed, users, machines);
        for (unsigned i = 0; i < 64; i++)
            weight[i] = rate[i] = 1;
        struct nuioa_rail_match match = {
            .user_count = users,
            .machine_count = machines,
            .allowed = allowed,
            .weight = weight,
            .rate = rate,
            .load = load,
            .machine_of = machine_of_user,
        };
        assert_int_equal(nuioa_rail_match(&match), 0);
        double most = 0, sum = 0;
        for (unsigned m = 0; m < machines; m++) {
            most = load[m] > most ? load[m] : most;
            sum += load[m];
        }
        for (unsigned u = 0; u < users; u++)
            assert_true(allowed[u * machines + machine_of_user[u]]);
        assert_true(sum == users);
        assert_int_equal((unsigned)most, exact_matching_least_load(&o));
    }
}

/* With any weights, nobody shares a machine while another one that it may use is idle. */
TEST(test_matching_leaves_nobody_idle)
{
    srandom(5);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned users = 1 + (unsigned)random() % 12, machines = 1 + (unsigned)random() % 12;
        bool allowed[64 * 64];
        double weight[64], rate[64], load[64] = { 0 };
        uint32_t machine_of_user[64];
        unsigned count[64] = { 0 };
        struct exact_matching o;
        random_problem(&o, allowed, users, machines);
        for (unsigned i = 0; i < 64; i++) {
            weight[i] = 1 + (double)(random() % 100);
            rate[i] = 1;
        }
        struct nuioa_rail_match match = {
            .user_count = users,
            .machine_count = machines,
            .allowed = allowed,
            .weight = weight,
            .rate = rate,
            .load = load,
            .machine_of = machine_of_user,
        };
        assert_int_equal(nuioa_rail_match(&match), 0);
        for (unsigned u = 0; u < users; u++)
            count[machine_of_user[u]]++;
        for (unsigned u = 0; u < users; u++)
            for (unsigned m = 0; m < machines; m++)
                if (allowed[u * machines + m] && !count[m] && count[machine_of_user[u]] > 1)
                    fail_msg("round %u: user %u shares, and machine %u is idle", round, u, m);
    }
}

/* Thousands of ranks take a limited number of steps: this test ends. */
TEST(test_many_users)
{
    enum { USERS = 4096, MACHINES = 64 };
    bool *allowed = calloc((size_t)USERS * MACHINES, sizeof(*allowed));
    double *weight = calloc(USERS, sizeof(*weight)), rate[MACHINES], load[MACHINES] = { 0 };
    uint32_t *result = calloc(USERS, sizeof(*result));
    assert_true(allowed && weight && result);
    for (unsigned m = 0; m < MACHINES; m++)
        rate[m] = 1;
    for (unsigned u = 0; u < USERS; u++) {
        weight[u] = 1 + u % 7;
        /* most may use the first quarter only */
        for (unsigned m = 0; m < (u % 5 ? MACHINES / 4 : MACHINES); m++)
            allowed[u * MACHINES + m] = true;
    }
    struct nuioa_rail_match match = {
        .user_count = USERS,
        .machine_count = MACHINES,
        .allowed = allowed,
        .weight = weight,
        .rate = rate,
        .load = load,
        .machine_of = result,
    };
    assert_int_equal(nuioa_rail_match(&match), 0);
    for (unsigned u = 0; u < USERS; u++)
        assert_true(allowed[u * MACHINES + result[u]]);
    free(allowed);
    free(weight);
    free(result);
}
