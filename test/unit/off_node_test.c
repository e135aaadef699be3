/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "spank/srun/off_node.h"

/* Ranks 0 and 3, 1 and 2 exchange; a ring of a collective and what a rank sends to itself do not
 * count. */
static struct nuioa_flow flows[] = {
    { .source = 0, .target = 3, .bytes = 100 },
    { .source = 3, .target = 0, .bytes = 200 },
    { .source = 1, .target = 2, .bytes = 100 },
    { .source = 2, .target = 2, .bytes = 1e9 },
    { .source = 0, .target = 1, .bytes = 1e9, .collective = true },
    { .source = 1, .target = 3, .bytes = 1e9, .collective = true },
};
static const struct nuioa_profile profile = { .rank_count = 4, .flow_count = 6, .flows = flows };

static double share(const uint32_t *first, const uint32_t *second, uint32_t count)
{
    struct off_node off;
    off_node_begin(&off, 4);
    off_node_add(&off, first, 2);
    off_node_add(&off, second, count);
    double result = off_node_share(&off, &profile);
    off_node_free(&off);
    assert_null(off.node_of);
    return result;
}

static void test_share(void **state)
{
    (void)state;
    assert_float_equal(share((uint32_t[]){ 0, 1 }, (uint32_t[]){ 2, 3 }, 2), 1, 0);
    assert_float_equal(share((uint32_t[]){ 0, 3 }, (uint32_t[]){ 2, 1 }, 2), 0, 0);
    assert_float_equal(share((uint32_t[]){ 0, 3 }, (uint32_t[]){ 2, 9 }, 2), -1, 0);
    assert_float_equal(share((uint32_t[]){ 1, 0 }, (uint32_t[]){ 2 }, 1), -1, 0);
}

/* A step with more ranks than the profile: those of the profile count. */
static void test_more_ranks(void **state)
{
    (void)state;
    struct off_node off;
    off_node_begin(&off, 4);
    off_node_add(&off, (uint32_t[]){ 1, 2, 0 }, 3);
    off_node_add(&off, (uint32_t[]){ 4, 3, UINT32_MAX }, 3);
    assert_float_equal(off_node_share(&off, &profile), 0.75, 1e-12);
    off_node_free(&off);
}

static void test_nothing(void **state)
{
    (void)state;
    struct off_node off = { 0 };
    assert_float_equal(off_node_share(&off, &profile), -1, 0);
    off_node_begin(&off, 4);
    off_node_add(&off, (uint32_t[]){ 0, 1, 2, 3 }, 4);
    assert_float_equal(off_node_share(&off, &profile), -1, 0); /* one node */
    off_node_free(&off);
    const struct nuioa_profile collectives = { .rank_count = 4,
                                               .flow_count = 3,
                                               .flows = flows + 3 };
    off_node_begin(&off, 4);
    off_node_add(&off, (uint32_t[]){ 0, 1 }, 2);
    off_node_add(&off, (uint32_t[]){ 2, 3 }, 2);
    assert_float_equal(off_node_share(&off, &collectives), -1, 0);
    off_node_free(&off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_more_ranks),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
