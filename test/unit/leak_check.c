/* SPDX-License-Identifier: BSD-3-Clause */
#include "leak_check.h"

#include <dirent.h>
#include <sys/wait.h>

#include "unit.h"

unsigned files_in(const char *name)
{
    unsigned count = 0;
    DIR *files = opendir(name);
    assert_non_null(files);
    while (readdir(files))
        count++;
    closedir(files);
    return count;
}

struct leak_check leak_check_begin(void)
{
    struct leak_check now;
    now.descriptors = files_in("/proc/self/fd");
    sigprocmask(SIG_SETMASK, NULL, &now.blocked);
    return now;
}

void leak_check_end(const struct leak_check *before)
{
    struct leak_check now = leak_check_begin();
    assert_int_equal(now.descriptors, before->descriptors);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&now.blocked, number), sigismember(&before->blocked, number));
    /* no child, not even a dead one */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}
