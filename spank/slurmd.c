/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/context.h"
#include "spank/option_sources.h"
#include "topology/cache.h"

/* Nobody waits for it: generous, for machines where discovery takes seconds. */
#define WARM_MS 60000

#define FDS_MAX 65536

/* Nothing of slurmd's stays open, and what a library may print must not end in the cache's own
 * file. */
static void close_all(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0))
        return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    for (int fd = STDERR_FILENO + 1; fd < limit && fd < FDS_MAX; fd++)
        close(fd);
}

/* A process of its own, so that it holds nothing of slurmd's: no port that a restarted slurmd
 * would want, no signal handler, and no way back. */
static void warm(const struct nuioa_options *options)
{
    struct nuioa_node node;
    struct nuioa_source source = { NULL, *options->distances ? options->distances : NULL };
    sigset_t none;
    for (int signal = 1; signal < NSIG; signal++)
        sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    close_all();
    alarm(2 * WARM_MS / 1000);
    nuioa_cache_get(*options->cache ? options->cache : NULL, &source, WARM_MS, &node, NULL);
    _exit(0);
}

/* Forked twice, for slurmd must not find a child it does not know. */
static void warm_in_background(const struct nuioa_options *options)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0)
            warm(options);
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void slurmd_init(int argc, char **argv)
{
    struct nuioa_options options;
    struct complaints complaints;
    struct flags none = { { NULL } };
    struct option_sources sources = { argc, argv, NULL, &none };
    option_sources_read(&sources, &options, &complaints);
    for (unsigned i = 0; i < complaints.plugstack.count; i++)
        slurm_error("nuioa: %s", complaints.plugstack.text[i]);
    if (!*options.topology)
        warm_in_background(&options);
}
