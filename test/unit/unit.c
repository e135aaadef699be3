/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

/* cmocka passes over what has no name. */
static struct CMUnitTest tests[64];
static CMFixtureFunction ends[64]; /* of the tests, which end_test() calls */
static size_t test_count;
static CMFixtureFunction begin_all, end_all;

static struct later {
    void (*what)(void *of);
    void *of;
    struct later *next;
} * laters;

void unit_later(void (*what)(void *of), void *of)
{
    struct later *later = calloc(1, sizeof(*later));
    assert_non_null(later);
    *later = (struct later){ what, of, laters };
    laters = later;
}

static int end_test(void **state)
{
    const CMFixtureFunction *end = *state;
    while (laters) {
        struct later *later = laters;
        laters = later->next;
        later->what(later->of);
        free(later);
    }
    return *end ? (*end)(state) : 0;
}

void unit_add(struct CMUnitTest test)
{
    if (test_count == sizeof(tests) / sizeof(*tests))
        abort();
    ends[test_count] = test.teardown_func;
    test.teardown_func = end_test;
    test.initial_state = &ends[test_count];
    tests[test_count++] = test;
}

void unit_all_within(CMFixtureFunction begin, CMFixtureFunction end)
{
    begin_all = begin;
    end_all = end;
}

int unit_run(const char *name)
{
    return cmocka_run_group_tests_name(name, tests, begin_all, end_all);
}
