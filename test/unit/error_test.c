/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "util/error.h"

static void test_lines(void **state)
{
    (void)state;
    struct nuioa_error err;
    assert_int_equal(nuioa_fail(&err, -EINVAL, "nic=%s", "a\nb\033[1m"), -EINVAL);
    assert_string_equal(err.text, "nic=a?b?[1m");
    assert_int_equal(nuioa_fail(&err, -ENOENT, "%0300d", 7), -ENOENT);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_int_equal(nuioa_fail(NULL, -EIO, "nobody asks"), -EIO);
}

static void test_warnings(void **state)
{
    (void)state;
    struct nuioa_warnings w = { 0 };
    nuioa_warn(NULL, "nobody asks");
    nuioa_warn(&w, "twice");
    nuioa_warn(&w, "twice");
    assert_int_equal(w.count, 1);
    for (int i = 0; i < NUIOA_WARNINGS_MAX + 1; i++)
        nuioa_warn(&w, "line %d", i);
    assert_int_equal(w.count, NUIOA_WARNINGS_MAX);
    assert_int_equal(w.lost, 2);
    assert_string_equal(w.text[0], "twice");
    assert_string_equal(w.text[NUIOA_WARNINGS_MAX - 1], "line 14");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
