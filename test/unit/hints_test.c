/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/option.h"
#include "profile/hints.h"
#include "unit.h"

static double weight_of(const char *list, uint32_t rank)
{
    struct nuioa_hints hints;
    struct nuioa_error err;
    assert_int_equal(nuioa_hints_parse(&hints, list, &err), 0);
    double weight = nuioa_hints_weight(&hints, rank);
    nuioa_hints_free(&hints);
    return weight;
}

TEST(test_weights)
{
    assert_float_equal(weight_of("0:10,1-7:1,rest:0.5", 0), 10, 0);
    assert_float_equal(weight_of("0:10,1-7:1,rest:0.5", 7), 1, 0);
    assert_float_equal(weight_of("0:10,1-7:1,rest:0.5", 8), 0.5, 0);
    assert_float_equal(weight_of("0-7:1,3:9", 3), 9, 0); /* the later item wins */
    assert_float_equal(weight_of("0-39992:8:2.5", 16), 2.5, 0);
    assert_float_equal(weight_of("0-39992:8:2.5", 17), 0, 0);
    assert_float_equal(weight_of("4-40:8:3", 12), 3, 0); /* strides count from the first */
    assert_float_equal(weight_of("4-40:8:3", 8), 0, 0);
    assert_float_equal(weight_of("heavy=0,8", 8), 1, 0);
    assert_float_equal(weight_of("heavy=0,8", 7), 0, 0);
    assert_float_equal(weight_of("heavy=0-63:16", 48), 1, 0);
    assert_float_equal(weight_of("2147483647:1", 2147483647), 1, 0);
}

TEST(test_malformed)
{
    static const char *const bad[] = { "",        "0",       "0:",           ":1",      "0:-1",
                                       "0:nan",   "0:inf",   "0:1,",         ",0:1",    "7-1:1",
                                       "0-7:0:1", "0:8:1",   "a:1",          "0x1:1",   "0:0x1",
                                       " 0:1",    "0:1e400", "4294967296:1", "heavy=",  "heavy=x",
                                       "rest:",   "0-:1",    "-1:1",         "0:1;1:2", "0--7:1" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct nuioa_hints hints;
        struct nuioa_error err = { "" };
        if (nuioa_hints_parse(&hints, bad[i], &err) != -EINVAL)
            fail_msg("'%s' was accepted", bad[i]);
        assert_true(err.text[0]);
        assert_null(hints.items);
    }
}

TEST(test_error_names_the_item)
{
    struct nuioa_hints hints;
    struct nuioa_error err;
    assert_int_equal(nuioa_hints_parse(&hints, "0:1,oops:2,3:4", &err), -EINVAL);
    assert_non_null(strstr(err.text, "'oops:2'"));
    assert_non_null(strstr(err.text, "RANKS:WEIGHT"));
}

TEST(test_length_limit)
{
    struct nuioa_hints hints;
    char *list = malloc(NUIOA_VALUE_MAX + 2);
    for (size_t i = 0; i < NUIOA_VALUE_MAX + 1; i++)
        list[i] = "0:1,"[i % 4];
    list[NUIOA_VALUE_MAX - 1] = '\0'; /* 4095 bytes: whole items */
    assert_int_equal(nuioa_hints_parse(&hints, list, NULL), 0);
    nuioa_hints_free(&hints);
    memset(list, '1', NUIOA_VALUE_MAX + 1);
    list[NUIOA_VALUE_MAX + 1] = '\0';
    assert_int_equal(nuioa_hints_parse(&hints, list, NULL), -EINVAL);
    free(list);
}

TEST(test_files)
{
    assert_string_equal(nuioa_hints_file("/a/b"), "/a/b");
    assert_string_equal(nuioa_hints_file("./b"), "./b");
    assert_string_equal(nuioa_hints_file("@b"), "b");
    assert_null(nuioa_hints_file("0:1"));
    assert_null(nuioa_hints_file("heavy=0"));
}

TEST(test_ranks)
{
    uint32_t ranks[4];
    struct nuioa_error err;
    assert_int_equal(nuioa_ranks_parse("4-7", ranks, 4, &err), 4);
    assert_int_equal(ranks[3], 7);
    assert_int_equal(nuioa_ranks_parse("9,0-16:8", ranks, 4, &err), 4);
    assert_int_equal(ranks[0], 9);
    assert_int_equal(ranks[3], 16);
    assert_int_equal(nuioa_ranks_parse("0-4", ranks, 4, &err), -EINVAL);
    assert_int_equal(nuioa_ranks_parse("", ranks, 4, &err), -EINVAL);
    assert_int_equal(nuioa_ranks_parse("1,", ranks, 4, &err), -EINVAL);
}

/* The lowest rank of the first item that no rank below `count` is in; -1: there is none. */
static int beyond(const char *list, uint32_t count)
{
    struct nuioa_hints hints;
    uint32_t rank;
    assert_int_equal(nuioa_hints_parse(&hints, list, NULL), 0);
    bool found = nuioa_hints_beyond(&hints, count, &rank);
    nuioa_hints_free(&hints);
    return found ? (int)rank : -1;
}

TEST(test_beyond)
{
    assert_int_equal(beyond("0:1,3:2", 4), -1);
    assert_int_equal(beyond("0:1,4:2", 4), 4);
    assert_int_equal(beyond("0:1,9:2,4:1", 4), 9);
    assert_int_equal(beyond("3-9:2,rest:1", 4), -1); /* one of them is there */
    assert_int_equal(beyond("heavy=0,4-64:8", 4), 4);
    assert_int_equal(beyond("rest:1", 0), -1);
}
