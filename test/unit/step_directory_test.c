/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "private_run.h"
#include "topology/cache.h"
#include "steps/step_load.h"

#define USER 4711

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

/* Returns true if the user may read the file. */
static bool may_read(uid_t user, const char *name)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(setgroups(0, NULL) || setgid(user) || setuid(user) || access(name, R_OK));
    assert_int_equal(waitpid(child, &status, 0), child);
    return !status;
}

static uint32_t count_of(const struct nuioa_step_directory *directory, struct nuioa_error *err)
{
    struct nuioa_step_load *loads;
    uint32_t count;
    assert_int_equal(nuioa_step_loads_read(directory, &loads, &count, err), 0);
    free(loads);
    return count;
}

/* Whose file it is: root writes it, and of others only the user of the step may read it. A file of
 * another owner counts as written by nobody, whatever is in it. */
static void test_owner(void **state)
{
    (void)state;
    struct nuioa_step_directory standard, reader;
    struct nuioa_error err;
    struct nuioa_step_load load = { .job = 7, .uid = USER, .pid = 1, .nic_count = 1 };
    static const char name[] = NUIOA_STEP_LOAD_DIR "/7.0.1";
    private_run();
    nuioa_copy(load.nics[0].nic, sizeof(load.nics[0].nic), "a");
    assert_int_equal(nuioa_step_directory_open(&standard, NUIOA_STEP_LOAD_DIR, true, &err), 0);
    assert_int_equal(nuioa_step_directory_open(&reader, NUIOA_STEP_LOAD_DIR, true, &err), 0);
    assert_true(fcntl(standard.fd, F_GETFD) & fcntl(standard.lock, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(nuioa_step_load_write(&standard, &load, &err), 0);
    assert_true(may_read(USER, name));
    assert_false(may_read(USER + 1, name));
    assert_int_equal(count_of(&reader, &err), 1);
    assert_int_equal(chown(name, USER, 0), 0);
    assert_int_equal(count_of(&reader, &err), 0);
    assert_non_null(strstr(err.text, "which no step has written: the first is 7.0.1"));
    nuioa_step_load_remove(&standard, &load);
    nuioa_step_directory_close(&standard);
    nuioa_step_directory_close(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_directory),
        cmocka_unit_test(test_owner),
    };
    return cmocka_run_group_tests_name("step_directory", tests, NULL, NULL);
}
