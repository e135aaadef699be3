/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

/* cmocka passes over what has no name. */
static struct CMUnitTest tests[64];
static size_t test_count;
static CMFixtureFunction begin_all, end_all;

void unit_add(struct CMUnitTest test)
{
    if (test_count == sizeof(tests) / sizeof(*tests))
        abort();
    tests[test_count++] = test;
}

void unit_all_within(CMFixtureFunction begin, CMFixtureFunction end)
{
    begin_all = begin;
    end_all = end;
}

int main(void)
{
    return cmocka_run_group_tests_name(program_invocation_short_name, tests, begin_all, end_all);
}
