/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact_matching.h"
#include "nics/rail_match.h"
#include "unit.h"

/* The matching of ranks with NICs, held against an exact one. */

enum { USERS = 40, MACHINES = 12 };

/* A problem, and its answer. */
struct random_match {
    struct exact_matching exact;
    uint8_t fit[USERS * MACHINES];
    double weight[USERS], rate[MACHINES], load[MACHINES];
    uint32_t machine_of[USERS];
};

/* Each user may use some machines, and one at the least; weights are from 1 to `heaviest`. */
static void match_random(struct random_match *r, unsigned users, unsigned machines,
                         unsigned heaviest)
{
    *r = (struct random_match){ .exact = { .users = users, .machines = machines } };
    for (unsigned m = 0; m < machines; m++)
        r->rate[m] = 1;
    for (unsigned u = 0; u < users; u++) {
        unsigned must = (unsigned)random() % machines;
        r->weight[u] = 1 + (double)(random() % heaviest);
        for (unsigned m = 0; m < machines; m++)
            r->fit[u * machines + m] = r->exact.allowed[u][m] = m == must || random() % 4 == 0;
    }
    struct nuioa_rail_match match = {
        .user_count = users,
        .machine_count = machines,
        .fit = r->fit,
        .weight = r->weight,
        .rate = r->rate,
        .load = r->load,
        .machine_of = r->machine_of,
    };
    assert_int_equal(nuioa_rail_match(&match), 0);
}

TEST(test_matching)
{
    srandom(4);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned users = 1 + (unsigned)random() % USERS,
                 machines = 1 + (unsigned)random() % MACHINES;
        struct random_match r;
        match_random(&r, users, machines, 1);
        double most = 0, sum = 0;
        for (unsigned m = 0; m < machines; m++) {
            most = r.load[m] > most ? r.load[m] : most;
            sum += r.load[m];
        }
        for (unsigned u = 0; u < users; u++)
            assert_true(r.fit[u * machines + r.machine_of[u]]);
        assert_true(sum == users);
        assert_int_equal((unsigned)most, exact_matching_least_load(&r.exact));
    }
}

/* With any weights, nobody shares a machine while another one that it may use is idle. */
TEST(test_matching_leaves_nobody_idle)
{
    srandom(5);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned users = 1 + (unsigned)random() % 12, machines = 1 + (unsigned)random() % MACHINES;
        struct random_match r;
        unsigned count[MACHINES] = { 0 };
        match_random(&r, users, machines, 100);
        for (unsigned u = 0; u < users; u++)
            count[r.machine_of[u]]++;
        for (unsigned u = 0; u < users; u++)
            for (unsigned m = 0; m < machines; m++)
                if (r.fit[u * machines + m] && !count[m] && count[r.machine_of[u]] > 1)
                    fail_msg("round %u: user %u shares, and machine %u is idle", round, u, m);
    }
}

/* Thousands of ranks take a limited number of steps: this test ends. */
TEST(test_many_users)
{
    enum { MANY_USERS = 4096, MANY = 64 };
    uint8_t *fit = calloc((size_t)MANY_USERS * MANY, sizeof(*fit));
    double *weight = calloc(MANY_USERS, sizeof(*weight)), rate[MANY], load[MANY] = { 0 };
    uint32_t *result = calloc(MANY_USERS, sizeof(*result));
    assert_true(fit && weight && result);
    for (unsigned m = 0; m < MANY; m++)
        rate[m] = 1;
    for (unsigned u = 0; u < MANY_USERS; u++) {
        weight[u] = 1 + u % 7;
        /* most may use the first quarter only */
        for (unsigned m = 0; m < (u % 5 ? MANY / 4 : MANY); m++)
            fit[u * MANY + m] = 1;
    }
    struct nuioa_rail_match match = {
        .user_count = MANY_USERS,
        .machine_count = MANY,
        .fit = fit,
        .weight = weight,
        .rate = rate,
        .load = load,
        .machine_of = result,
    };
    assert_int_equal(nuioa_rail_match(&match), 0);
    for (unsigned u = 0; u < MANY_USERS; u++)
        assert_true(fit[u * MANY + result[u]]);
    free(fit);
    free(weight);
    free(result);
}
