/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <unistd.h>

#include "dump.h"
#include "unit.h"
#include "util/sysfs.h"

/* Files of lines. */

/* The line that the limit cuts is left out, and so are those behind it. */
TEST(test_long_file)
{
    dump_make();
    dump_file("list", "one\ntwo\nthree");
    static const struct {
        size_t max;
        const char *wanted;
    } cases[] = { { 100, "one\ntwo\nthree\n" },
                  { 14, "one\ntwo\nthree\n" },
                  { 13, "one\ntwo\n" },
                  { 8, "one\ntwo\n" },
                  { 7, "one\n" },
                  { 3, "" } };
    for (size_t t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        char *text = nuioa_sysfs_lines(AT_FDCWD, cases[t].max, "%s/list", dump_path);
        assert_non_null(text);
        assert_string_equal(text, cases[t].wanted);
        free(text);
    }
    assert_null(nuioa_sysfs_lines(AT_FDCWD, 100, "%s/no", dump_path));
}

/* The kernel hands out such a file a page at a time. */
TEST(test_file_of_the_kernel)
{
    char *text = nuioa_sysfs_lines(AT_FDCWD, 1 << 20, "/proc/self/%s", "smaps");
    assert_non_null(text);
    assert_true(strlen(text) > (size_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(text[strlen(text) - 1], '\n');
    free(text);
}
