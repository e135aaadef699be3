/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "private_run.h"
#include "topology/cache.h"
#include "topology/step_load.h"

/* The directory in which the steps of a node tell each other of their load, at its standard
 * place. */

/* The first step on a node makes the directory. Whatever the umask is, every user may read it. */
static void test_standard_directory(void **state)
{
    (void)state;
    struct nuioa_step_directory standard;
    struct nuioa_error err;
    struct stat st;
    private_run();
    assert_int_equal(nuioa_step_directory_open(&standard, NUIOA_STEP_LOAD_DIR, false, &err),
                     -ENOENT);
    mode_t before = umask(077);
    int rc = nuioa_step_directory_open(&standard, NUIOA_STEP_LOAD_DIR, true, &err);
    umask(before);
    assert_int_equal(rc, 0);
    assert_int_equal(fstat(standard.fd, &st), 0);
    assert_int_equal(st.st_mode, S_IFDIR | 0755);
    nuioa_step_directory_close(&standard);
    assert_int_equal(stat(NUIOA_CACHE_DIR, &st), 0);
    assert_int_equal(st.st_mode, S_IFDIR | 0755);
    assert_int_equal(stat(NUIOA_STEP_LOAD_DIR "/.lock", &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0600);

    assert_int_equal(unlink(NUIOA_STEP_LOAD_DIR "/.lock"), 0);
    assert_int_equal(rmdir(NUIOA_STEP_LOAD_DIR) | rmdir(NUIOA_CACHE_DIR), 0);
    assert_int_equal(mount("none", "/run", "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_int_equal(nuioa_step_directory_open(&standard, NUIOA_STEP_LOAD_DIR, true, &err), -EROFS);
    assert_string_equal(err.text, NUIOA_STEP_LOAD_DIR ": Read-only file system");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_directory),
    };
    return cmocka_run_group_tests_name("step_directory", tests, NULL, NULL);
}
