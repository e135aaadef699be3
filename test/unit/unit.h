/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

/* A unit test begins with this: cmocka, the headers of C that most tests need, and tests that list
 * themselves, so that a program has no main().
 *
 *     TEST(test_sum)
 *     {
 *         assert_int_equal(1 + 1, 2);
 *     }
 *
 * The tests run in the order of the file. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Adds a test; there are 64 at the most. */
void unit_add(struct CMUnitTest test);

/* Runs all tests, as a group of this name; unit_main.c does. */
int unit_run(const char *name);

/* Calls what(of) when the test has ended, well or not; the last one is called first. */
void unit_later(void (*what)(void *of), void *of);

#define TEST(name) TEST_WITHIN(name, NULL, NULL)

/* The test runs between begin and end, functions of cmocka's; each may be NULL. */
#define TEST_WITHIN(name, begin, end) \
    static void name(void **state); \
    __attribute__((constructor(1000 + __LINE__))) static void add_##name(void) \
    { \
        unit_add((struct CMUnitTest){ #name, name, begin, end, NULL }); \
    } \
    static void name(__attribute__((unused)) void **state)

/* All tests of the file run between begin and end. */
void unit_all_within(CMFixtureFunction begin, CMFixtureFunction end);

#define ALL_WITHIN(begin, end) \
    __attribute__((constructor)) static void unit_all(void) \
    { \
        unit_all_within(begin, end); \
    }

#endif
