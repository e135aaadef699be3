/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/hints.h"
#include "profile/hints_from_profile.h"
#include "rounds.h"
#include "unit.h"

enum { RANKS = 64 };

/* The list of `weight` is `wanted`, and says the same of each rank. */
static void expect_list(const double *weight, uint32_t count, const char *wanted)
{
    char list[256];
    struct nuioa_hints hints;
    struct nuioa_error err;
    assert_int_equal(nuioa_hints_from_weights(weight, count, list, sizeof(list)), 0);
    assert_string_equal(list, wanted);
    assert_int_equal(nuioa_hints_parse(&hints, list, &err), 0);
    for (uint32_t rank = 0; rank < count; rank++)
        assert_float_equal(nuioa_hints_weight(&hints, rank), weight[rank], 0);
    nuioa_hints_free(&hints);
}

TEST(test_lists)
{
    expect_list(NULL, 0, "rest:0");
    expect_list((double[]){ 7 }, 1, "rest:7");
    expect_list((double[]){ 2, 2, 2 }, 3, "rest:2");
    expect_list((double[]){ 0, 5, 0, 0 }, 4, "1:5,rest:0");
    expect_list((double[]){ 5, 5, 0, 0, 0 }, 5, "0-1:5,rest:0");
    /* a stride of two ranks is no shorter than the two */
    expect_list((double[]){ 5, 0, 0, 5, 0 }, 5, "0:5,3:5,rest:0");
    expect_list((double[]){ 5, 0, 0, 5, 0, 0, 5, 0 }, 8, "0-6:3:5,rest:0");
    expect_list((double[]){ 0.5, 0, 2, 0, 0.5, 0, 2, 0, 0.5 }, 9, "0-8:4:0.5,2:2,6:2,rest:0");
}

/* Each list says what the weights were, whatever they are. */
TEST(test_random_weights)
{
    double weight[RANKS];
    char list[4096];
    struct nuioa_hints hints;
    struct nuioa_error err;
    srand(5);
    for (uint64_t round = 0; round < rounds(400); round++) {
        for (unsigned rank = 0; rank < RANKS; rank++)
            weight[rank] = rand() % (2 + (int)(round % 5));
        assert_int_equal(nuioa_hints_from_weights(weight, RANKS, list, sizeof(list)), 0);
        assert_int_equal(nuioa_hints_parse(&hints, list, &err), 0);
        for (uint32_t rank = 0; rank < RANKS; rank++)
            assert_float_equal(nuioa_hints_weight(&hints, rank), weight[rank], 0);
        nuioa_hints_free(&hints);
    }
}

/* A list that does not fit is refused, and nothing behind the buffer is written. */
TEST(test_no_room)
{
    const double weight[] = { 1, 2, 3, 4 };
    const char *whole = "1:2,2:3,3:4,rest:1";
    char list[32];
    for (size_t size = 1; size <= strlen(whole); size++) {
        memset(list, 'x', sizeof(list));
        assert_int_equal(nuioa_hints_from_weights(weight, 4, list, size), -E2BIG);
        assert_int_equal(list[size], 'x');
        assert_non_null(memchr(list, '\0', size));
    }
    assert_int_equal(nuioa_hints_from_weights(weight, 4, list, strlen(whole) + 1), 0);
    assert_string_equal(list, whole);
}

/* Ranks 0 and 1 send to each other; rank 2 has a `rank` line only, rank 3 nothing. What rank 0
 * sends to itself stays on its node. */
TEST(test_profile)
{
    struct nuioa_traffic traffic[4] = {
        [0] = { .recv_bytes = 1e9 }, [2] = { .recv_bytes = 300, .recv_msgs = 3 }
    };
    struct nuioa_flow flows[] = { { 0, 1, .bytes = 1000, .msgs = 2 },
                                  { 1, 0, .bytes = 2000, .msgs = 5 },
                                  { 0, 0, .bytes = 4000, .msgs = 9 } };
    struct nuioa_profile profile = {
        .rank_count = 4, .ranks = traffic, .flow_count = 3, .flows = flows
    };
    char list[128];
    struct nuioa_error err = { "" };
    /* received + 0.05 * sent; the `rank` line of rank 0 does not count beside its flows */
    assert_int_equal(
        nuioa_hints_from_profile(&profile, NUIOA_POLICY_BANDWIDTH, list, sizeof(list), &err), 0);
    assert_string_equal(list, "0:2050,1:1100,2:300,rest:0");
    assert_int_equal(
        nuioa_hints_from_profile(&profile, NUIOA_POLICY_LATENCY, list, sizeof(list), &err), 0);
    assert_string_equal(list, "2:3,3:0,rest:7");
    assert_string_equal(err.text, "");
}

/* Weights lose digits until the list fits; they never lose their order of magnitude. */
TEST(test_rounding)
{
    struct nuioa_traffic traffic[RANKS] = { { 0 } };
    for (unsigned rank = 0; rank < RANKS; rank++)
        traffic[rank].recv_bytes = 123456789 + 1000003.0 * rank;
    struct nuioa_profile profile = { .rank_count = RANKS, .ranks = traffic };
    char list[2048];
    struct nuioa_error err = { "" };
    size_t length = sizeof(list);
    for (size_t size = sizeof(list); size >= 64; size /= 2) {
        struct nuioa_hints hints;
        assert_int_equal(
            nuioa_hints_from_profile(&profile, NUIOA_POLICY_BANDWIDTH, list, size, &err), 0);
        assert_true(strlen(list) < size && strlen(list) <= length);
        length = strlen(list);
        assert_int_equal(nuioa_hints_parse(&hints, list, &err), 0);
        for (uint32_t rank = 0; rank < RANKS; rank++)
            assert_float_equal(nuioa_hints_weight(&hints, rank), traffic[rank].recv_bytes,
                               0.5 * traffic[rank].recv_bytes);
        nuioa_hints_free(&hints);
    }
    assert_int_equal(nuioa_hints_from_profile(&profile, NUIOA_POLICY_BANDWIDTH, list, 8, &err),
                     -E2BIG);
    assert_string_equal(err.text, "too irregular for the 7 bytes of a hints list");
}
