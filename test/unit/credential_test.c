/* SPDX-License-Identifier: BSD-3-Clause */

/* Nothing is sealed as root, who could be made to speak for him. And how often libmunge is opened.
 * Nothing here needs munged. */

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "spank/report/credential.h"

#define USER 4711

/* libmunge refuses this name at once, because it does not fit a socket's address. */
static const char *no_socket(void)
{
    static char name[4096];
    memset(name, 'x', sizeof(name) - 1);
    name[0] = '/';
    return name;
}

static int make(struct nuioa_error *err)
{
    char *credential = NULL;
    int rc = credential_make(no_socket(), "bytes", 5, &credential, err);
    assert_null(credential);
    return rc;
}

static void test_root(void **state)
{
    (void)state;
    struct nuioa_error err;
    if (geteuid())
        skip();
    assert_int_equal(make(&err), -EPERM);
    assert_string_equal(err.text, "MUNGE: root's jobs send no record");
}

static void test_user(void **state)
{
    (void)state;
    struct nuioa_error err;
    uid_t before = geteuid();
    if (!before)
        assert_int_equal(seteuid(USER), 0);
    int rc = make(&err);
    assert_int_equal(seteuid(before), 0);
    assert_int_equal(rc, -EIO);
    assert_memory_equal(err.text, "MUNGE: ", 7);
}

/* --- the library ------------------------------------------------------------------------------ */

static int opened;

/* Every dlopen of the test is this one. */
void *__wrap_dlopen(const char *name, int flags);
void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    opened++;
    return __real_dlopen(name, flags);
}

static int decode_twice(void)
{
    struct nuioa_error err;
    uid_t uid;
    void *bytes;
    size_t length;
    for (int i = 0; i < 2; i++)
        if (credential_decode(no_socket(), "MUNGE:none:", &uid, &bytes, &length, &err) >= 0)
            return -1;
    return opened;
}

/* srun sees that the library is there, then its child decodes one credential for each node. */
static void test_opened_once(void **state)
{
    (void)state;
    struct nuioa_error err;
    int status = -1;
    assert_int_equal(credential_ready("/nowhere/socket", &err), -EIO);
    assert_non_null(strstr(err.text, "/nowhere/socket: No such file or directory; start munged"));
    assert_int_equal(credential_ready("/", &err), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(decode_twice());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_user),
        cmocka_unit_test(test_opened_once),
    };
    return cmocka_run_group_tests_name("credential", tests, NULL, NULL);
}
