/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/slurmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/common/flags.h"
#include "spank/common/option_sources.h"
#include "topology/cache.h"
#include "util/descriptors.h"

/* The limit is generous, because nothing waits for this process and discovery takes seconds on some
 * machines. */
#define DISCOVERY_MS 60000

/* Closes all of slurmd's descriptors. The first three become /dev/null, because the cache file
 * would get one of their numbers otherwise, and what a library prints would go into it. */
static void close_all(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    nuioa_close_all_but(-1, -1);
}

/* Fills the cache, in a process of its own that keeps nothing of slurmd: no port that a restarted
 * slurmd needs, and no signal handler. It does not return. */
static void fill_cache(const struct nuioa_options *options)
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
    alarm(2 * DISCOVERY_MS / 1000);
    nuioa_cache_get(*options->cache ? options->cache : NULL, &source, DISCOVERY_MS, &node, NULL);
    _exit(0);
}

/* Forks twice, so that the process is no child of slurmd, which waits for its own children. */
static void fill_cache_in_background(const struct nuioa_options *options)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0)
            fill_cache(options);
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void slurmd_init(int argc, char **argv)
{
    struct nuioa_options options;
    struct option_warnings warnings;
    struct flags none = { .lost = false };
    struct option_sources sources = { argc, argv, NULL, &none };
    option_sources_read(&sources, &options, &warnings);
    for (unsigned i = 0; i < warnings.plugstack.count; i++)
        slurm_error("nuioa: %s", warnings.plugstack.text[i]);
    for (unsigned i = 0; i < warnings.retired.count; i++)
        slurm_error("nuioa: %s", warnings.retired.text[i]);
    if (!*options.topology)
        fill_cache_in_background(&options);
}
