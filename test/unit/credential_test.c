/* SPDX-License-Identifier: BSD-3-Clause */

/* What the child that asks munged for a credential has become: the user, without any right of
 * root's. That needs root. And how often libmunge is opened. Nothing here needs munged. */

#include <dlfcn.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "spank/rendezvous/credential.h"

#define USER 4711
#define GROUP 4712

/* libmunge refuses this name at once, because it does not fit a socket's address. */
static const char *no_socket(void)
{
    static char name[4096];
    memset(name, 'x', sizeof(name) - 1);
    name[0] = '/';
    return name;
}

static bool make(uid_t user)
{
    struct nuioa_error err = { "" };
    char *credential = NULL;
    int rc = credential_make_as(no_socket(), user, GROUP, "bytes", 5, &credential, &err);
    return rc < 0 && !credential && *err.text;
}

/* Returns the number of what is wrong; 0: nothing. slurmstepd calls the plugin as root, or as the
 * user for a time, and has root's groups. */
static int check_user(uid_t effective)
{
    const gid_t groups[] = { 0, 4, 20 };
    uid_t uid[3];
    gid_t gid[3];
    int number = 0;
    if (setgroups(3, groups) || prctl(PR_SET_PDEATHSIG, SIGUSR1) || seteuid(effective))
        return 1;
    prctl(PR_SET_PDEATHSIG, SIGUSR1); /* a change of user removes it */
    if (!make(USER))
        return 2;
    if (getresuid(&uid[0], &uid[1], &uid[2]) || uid[0] != USER || uid[1] != USER || uid[2] != USER)
        return 3;
    if (getresgid(&gid[0], &gid[1], &gid[2]) || gid[0] != GROUP || gid[1] != GROUP ||
        gid[2] != GROUP)
        return 4;
    if (getgroups(0, NULL) != 0)
        return 5;
    if (!setuid(0) || !seteuid(0) || !setgid(0))
        return 6;
    return prctl(PR_GET_PDEATHSIG, &number) || number != SIGUSR1 ? 7 : 0;
}

/* Root's own jobs get no credential, which others could keep. */
static int check_root(uid_t effective)
{
    (void)effective;
    return make(0) ? 0 : 1;
}

static void run(int (*check)(uid_t), uid_t effective)
{
    int status = -1;
    if (geteuid())
        skip();
    pid_t child = fork();
    if (child == 0)
        _exit(check(effective));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_from_root(void **state)
{
    (void)state;
    run(check_user, 0);
}

static void test_from_user(void **state)
{
    (void)state;
    run(check_user, USER);
}

static void test_root(void **state)
{
    (void)state;
    run(check_root, 0);
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
    assert_int_equal(credential_ready(&err), 0);
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
        cmocka_unit_test(test_from_root),
        cmocka_unit_test(test_from_user),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_opened_once),
    };
    return cmocka_run_group_tests_name("credential", tests, NULL, NULL);
}
