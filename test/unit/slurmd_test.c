/* SPDX-License-Identifier: BSD-3-Clause */

/* The process that slurmd starts to fill the cache: it keeps nothing of slurmd's, and leaves slurmd
 * as it was. */

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak_check.h"
#include "spank/common/option_sources.h"
#include "spank/slurmd.h"
#include "topology/cache.h"
#include "unit.h"

/* What the process finds, in memory that it shares with the test. */
struct found {
    pid_t pid, session;
    bool blocks, handles, has_limit, has_null;
    unsigned descriptors; /* above the first three */
};

static struct found *found;

static bool is_null(int fd)
{
    struct stat file, null;
    return !fstat(fd, &file) && !stat("/dev/null", &null) && file.st_rdev == null.st_rdev;
}

/* In place of the cache: says what this process is like. */
int nuioa_cache_get(const char *path, const struct nuioa_source *source, unsigned deadline_ms,
                    struct nuioa_node *node, struct nuioa_error *err)
{
    struct itimerval limit;
    sigset_t blocked;
    (void)path, (void)source, (void)deadline_ms, (void)node, (void)err;
    found->pid = getpid();
    found->session = getsid(0);
    found->has_null = is_null(0) && is_null(1) && is_null(2);
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
        found->descriptors += fcntl(fd, F_GETFD) >= 0;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < SIGRTMIN; number++) {
        struct sigaction action;
        found->blocks |= sigismember(&blocked, number) == 1;
        found->handles |= !sigaction(number, NULL, &action) && action.sa_handler != SIG_DFL;
    }
    getitimer(ITIMER_REAL, &limit);
    found->has_limit = limit.it_value.tv_sec > 0;
    return -1;
}

/* In place of the other sources: an option that went. */
void option_sources_read(const struct option_sources *sources, struct nuioa_options *options,
                         struct option_warnings *warnings)
{
    (void)sources;
    memset(options, 0, sizeof(*options));
    memset(warnings, 0, sizeof(*warnings));
    nuioa_warn(&warnings->retired, "went");
}

/* In place of libslurm's, which writes to slurmd.log. */
static char logged[64];

void slurm_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(logged, sizeof(logged), format, args);
    va_end(args);
}

static void handle(int number)
{
    (void)number;
}

/* slurmd has a port, handles signals, and blocks some. A process whose parent ends comes to this
 * one, which waits for it in place of init. */
TEST(test_keeps_nothing)
{
    struct sigaction action = { .sa_handler = handle }, old;
    sigset_t all, before;
    int port[2], status = -1;
    found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(found != MAP_FAILED);
    assert_int_equal(pipe(port), 0);
    int high = fcntl(port[0], F_DUPFD, 500);
    sigaction(SIGTERM, &action, &old);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    struct leak_check check = leak_check_begin();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    slurmd_init(0, NULL);
    pid_t ended = waitpid(-1, &status, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    leak_check_end(&check);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGTERM, &old, NULL);
    assert_string_equal(logged, "nuioa: went");
    assert_int_equal(status, 0);
    assert_int_equal(ended, found->pid); /* slurmd has waited for the one between */
    assert_int_equal(found->session, found->pid);
    assert_int_equal(found->descriptors, 0);
    assert_true(found->has_null);
    assert_false(found->blocks);
    assert_false(found->handles);
    assert_true(found->has_limit);
    close(port[0]);
    close(port[1]);
    close(high);
    munmap(found, sizeof(*found));
}
