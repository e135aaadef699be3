/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "spank/stepd/ending.h"

/* This program is slurmstepd: it listens as that does, and others connect and wait. */

#define NOBODY 65534
#define LOOKS 6 /* twice as many as it takes */

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    va_list args;
    (void)spank;
    va_start(args, item);
    *va_arg(args, uint32_t *) = item == S_JOB_ID ? 7 : 0;
    va_end(args);
    return ESPANK_SUCCESS;
}

static int listen_at(const char *name, struct sockaddr_un *address)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(address->sun_path, sizeof(address->sun_path), "%s", name);
    assert_int_equal(bind(listener, (struct sockaddr *)address, sizeof(*address)), 0);
    assert_int_equal(chmod(name, 0777), 0);
    assert_int_equal(listen(listener, 8), 0);
    return listener;
}

/* Whether a connection of that user's to a socket of that name is taken for a request that ends the
 * step. */
static bool ends(const char *name, uid_t uid)
{
    struct sockaddr_un address;
    struct ending ending = { .looks = 0 };
    bool near = false;
    int listener = listen_at(name, &address);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        alarm(60);
        if (setresuid(uid, uid, uid) < 0 ||
            connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
            _exit(1);
        pause();
    }
    int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    ending_watch(&ending, NULL);
    for (int i = 0; i < LOOKS; i++)
        near = ending_is_requested(&ending);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(fd);
    close(listener);
    unlink(name);
    return near;
}

static void test_slurmd(void **state)
{
    (void)state;
    assert_true(ends("node_7.0", getuid()));
    assert_true(ends("node_7.0.1", getuid())); /* of a heterogeneous step */
    assert_false(ends("node_7.1", getuid()));
    assert_false(ends("node_77.0", getuid()));
}

static void test_others(void **state)
{
    (void)state;
    if (getuid())
        skip(); /* cannot be others */
    assert_false(ends("node_7.0", NOBODY));
}

static void test_over(void **state)
{
    (void)state;
    struct ending ending = { .looks = 0 };
    ending_watch(&ending, NULL);
    assert_false(ending_is_requested(&ending));
    ending_mark_over(&ending);
    assert_true(ending_is_requested(&ending));
}

int main(void)
{
    char directory[] = "/tmp/nuioa-ending.XXXXXX";
    alarm(60); /* one that hangs has failed */
    if (!mkdtemp(directory) || chmod(directory, 0755) < 0 || chdir(directory) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurmd),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_over),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(directory) ? 1 : rc;
}
