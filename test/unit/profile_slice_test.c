/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/profile_slice.h"

/* A node's part of profiles with many ranks and flows; profile_test.c reads small ones. */

#define MANY 40

/* Computes the expected slice by searching for each flow. */
static void count_slowly(const struct nuioa_profile *p, const uint32_t *ranks, uint32_t n,
                         double *weight, double *bytes)
{
    memset(weight, 0, n * sizeof(*weight));
    memset(bytes, 0, n * n * sizeof(*bytes));
    for (uint32_t i = 0; i < p->flow_count; i++) {
        const struct nuioa_flow *f = &p->flows[i];
        uint32_t from = 0, to = 0;
        while (from < n && ranks[from] != f->source)
            from++;
        while (to < n && ranks[to] != f->target)
            to++;
        if (from < n && to == n)
            weight[from] += 0.05 * f->bytes;
        else if (from == n && to < n)
            weight[to] += f->bytes;
        else if (from < n && from != to)
            bytes[(from < to ? from : to) * n + (from < to ? to : from)] += f->bytes;
    }
}

static void check_slice(const struct nuioa_profile *p, const uint32_t *ranks, uint32_t n)
{
    double weight[MANY], wanted[MANY], bytes[MANY * MANY];
    struct nuioa_pair *pairs;
    uint32_t count, nonzero = 0;
    count_slowly(p, ranks, n, wanted, bytes);
    assert_int_equal(
        nuioa_profile_slice(p, NUIOA_POLICY_BANDWIDTH, ranks, n, weight, &pairs, &count, NULL), 0);
    for (uint32_t i = 0; i < n; i++)
        assert_float_equal(weight[i], wanted[i], 1e-6);
    for (uint32_t i = 0; i < n * n; i++)
        nonzero += bytes[i] > 0;
    assert_int_equal(count, nonzero);
    for (uint32_t k = 0; k < count; k++)
        assert_float_equal(pairs[k].bytes, bytes[pairs[k].first * n + pairs[k].second], 1e-6);
    free(pairs);
}

/* Slices 1 to 40 ranks in several orders, without an index and with one. */
static void test_slices_of_many(void **state)
{
    (void)state;
    struct nuioa_profile p = { .rank_count = MANY, .flow_count = 600 };
    p.ranks = calloc(MANY, sizeof(*p.ranks));
    p.flows = calloc(p.flow_count, sizeof(*p.flows));
    uint32_t seed = 7, ranks[MANY];
    for (uint32_t i = 0; i < p.flow_count; i++) {
        seed = seed * 1664525 + 1013904223;
        /* rank 39 has no traffic */
        p.flows[i] = (struct nuioa_flow){ seed >> 8 & 31, (seed >> 16) % 39, 1 + (seed >> 24), 1,
                                          .collective = seed & 1 };
    }
    for (int indexed = 0; indexed < 2; indexed++) {
        for (uint32_t n = 1; n <= MANY; n++) {
            for (uint32_t i = 0; i < n; i++)
                ranks[i] = (n % 3 ? 7 * i : MANY - 1 - i) % MANY; /* each once: 7 is prime to 40 */
            check_slice(&p, ranks, n);
        }
        assert_int_equal(nuioa_profile_index(&p), 0);
    }
    nuioa_profile_merge(&p);
    assert_null(p.first_of);
    nuioa_profile_free(&p);
}

/* A node lists one rank 4,095 times, and that rank has more than a million flows: their product
 * does not fit into 32 bits. The list is refused before anything is counted. */
static void test_repeated_rank(void **state)
{
    (void)state;
    enum { RANKS = 4096, FLOWS = (1 << 20) + 257 };
    struct nuioa_profile p = { .rank_count = 2, .flow_count = FLOWS };
    struct nuioa_pair *pairs;
    static uint32_t ranks[RANKS];
    static double weight[RANKS];
    uint32_t count;
    p.ranks = calloc(2, sizeof(*p.ranks));
    p.flows = calloc(FLOWS, sizeof(*p.flows));
    for (uint32_t i = 0; i < FLOWS; i++)
        p.flows[i] = (struct nuioa_flow){ 0, 1, 1, 1, 0, false };
    assert_int_equal(nuioa_profile_index(&p), 0);
    memset(ranks, 0, sizeof(ranks));
    ranks[RANKS - 1] = 1;
    assert_int_equal(
        nuioa_profile_slice(&p, NUIOA_POLICY_BANDWIDTH, ranks, RANKS, weight, &pairs, &count, NULL),
        -EINVAL);
    assert_null(pairs);
    assert_int_equal(count, 0);
    assert_int_equal(nuioa_profile_slice(&p, NUIOA_POLICY_BANDWIDTH, ranks + RANKS - 2, 2, weight,
                                         &pairs, &count, NULL),
                     0);
    assert_int_equal(count, 1);
    assert_float_equal(pairs[0].bytes, FLOWS, 0);
    free(pairs);
    nuioa_profile_free(&p);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_of_many),
        cmocka_unit_test(test_repeated_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
