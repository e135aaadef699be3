/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"
#include "unit.h"

TEST(test_order)
{
    struct nuioa_candidate c[] = {
        { 0, 2, 9, 0, NULL }, { 1, 1, 1, 0, NULL }, { 2, 0, 1, 0, NULL },
        { 3, 0, 5, 0, NULL }, { 4, 0, 5, 0, NULL }, { 5, 1, 2, 0, NULL }
    };
    static const uint32_t wanted[] = { 3, 4, 2, 5, 1, 0 };
    assert_int_equal(nuioa_leader_order(c, 6), 3);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(c[i].local, wanted[i]);
}

TEST(test_unknown_levels_keep_local_order)
{
    struct nuioa_candidate c[] = { { 0, UINT32_MAX, 0, 0, NULL }, { 1, UINT32_MAX, 0, 0, NULL } };
    assert_int_equal(nuioa_leader_order(c, 2), 2);
    assert_int_equal(c[0].local, 0);
}

TEST(test_rails)
{
    static const uint32_t nics[] = { 2, 0 };
    struct nuioa_candidate c[] = { { 7, 0, 1, 1, &nics[0] },
                                   { 1, 0, 1, 1, &nics[1] },
                                   { 4, 0, 1, 1, &nics[0] },
                                   { 5, 1, 0, 0, NULL } };
    uint32_t rails[4];
    assert_int_equal(nuioa_rail_leaders(c, 4, rails), 2);
    assert_int_equal(rails[0], 1); /* NIC 0 */
    assert_int_equal(rails[1], 7); /* NIC 2: the better of its two ranks, not the lower one */
}

/* A rank that uses several NICs leads them all, and is there once. */
TEST(test_several_rails_a_rank)
{
    static const uint32_t nics[][2] = { { 0, 2 }, { 1, 3 }, { 0, 1 }, { 1, 0 }, { 0, 4 } };
    uint32_t rails[3];
    /* disjoint: each of the two leads its own */
    struct nuioa_candidate own[] = { { 0, 0, 1, 2, nics[1] }, { 1, 0, 1, 2, nics[0] } };
    assert_int_equal(nuioa_rail_leaders(own, 2, rails), 2);
    assert_int_equal(rails[0], 1);
    assert_int_equal(rails[1], 0);
    /* both use both, but begin with different ones */
    struct nuioa_candidate both[] = { { 0, 0, 1, 2, nics[2] }, { 1, 0, 1, 2, nics[3] } };
    assert_int_equal(nuioa_rail_leaders(both, 2, rails), 2);
    assert_int_equal(rails[0], 0);
    assert_int_equal(rails[1], 1);
    /* NIC 4 is nobody's first one */
    struct nuioa_candidate rest[] = { { 5, 0, 1, 2, nics[0] },
                                      { 3, 0, 1, 2, nics[4] },
                                      { 4, 0, 1, 2, nics[4] } };
    assert_int_equal(nuioa_rail_leaders(rest, 3, rails), 2);
    assert_int_equal(rails[0], 5);
    assert_int_equal(rails[1], 3);
    /* one rank, four NICs */
    static const uint32_t all[] = { 0, 1, 2, 3 };
    struct nuioa_candidate alone = { 0, 0, 1, 4, all };
    assert_int_equal(nuioa_rail_leaders(&alone, 1, rails), 1);
}
