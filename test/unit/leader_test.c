/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/leader.h"

static void test_order(void **state)
{
    (void)state;
    struct nuioa_candidate c[] = { { 0, 2, 0, 9 }, { 1, 1, 0, 1 }, { 2, 0, 0, 1 },
                                   { 3, 0, 1, 5 }, { 4, 0, 0, 5 }, { 5, 1, 1, 2 } };
    static const uint32_t wanted[] = { 3, 4, 2, 5, 1, 0 };
    assert_int_equal(nuioa_leader_order(c, 6), 3);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(c[i].local, wanted[i]);
}

static void test_unknown_levels_keep_local_order(void **state)
{
    (void)state;
    struct nuioa_candidate c[] = { { 0, UINT32_MAX, UINT32_MAX, 0 },
                                   { 1, UINT32_MAX, UINT32_MAX, 0 } };
    assert_int_equal(nuioa_leader_order(c, 2), 2);
    assert_int_equal(c[0].local, 0);
}

static void test_rails(void **state)
{
    (void)state;
    struct nuioa_candidate c[] = {
        { 7, 0, 2, 1 }, { 1, 0, 0, 1 }, { 4, 0, 2, 1 }, { 5, 1, UINT32_MAX, 0 }
    };
    uint32_t rails[4];
    assert_int_equal(nuioa_leader_rails(c, 4, rails), 2);
    assert_int_equal(rails[0], 1); /* NIC 0 */
    assert_int_equal(rails[1], 7); /* NIC 2: the better of its two ranks, not the lower one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_unknown_levels_keep_local_order),
        cmocka_unit_test(test_rails),
    };
    return cmocka_run_group_tests_name("leader", tests, NULL, NULL);
}
