/* SPDX-License-Identifier: BSD-3-Clause */
// Prints, in one line, where the OpenMP threads of this process run, seen from inside them:
//
//   rank=0 main=12 child=12 own=12 cpus=18,19,...
//
// main: on how many CPUs the process may run before its first parallel region, with libgomp loaded;
// child: on how many a process may that it forks there; own: how many threads are bound to a CPU of
// their own; cpus: on which each finds itself; then of the environment what places threads.

#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 256

extern char **environ;

static const char *const prefixes[] = {
    "NUIOA_", "OMP_P", "GOMP_", "KMP_", "MPIR_CVAR_PROGRESS", "I_MPI_ASYNC"
};

static void add_environment(FILE *out)
{
    for (char **entry = environ; *entry; entry++)
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            if (!strncmp(*entry, prefixes[i], strlen(prefixes[i])))
                fprintf(out, " %s", *entry);
}

static int width(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    return CPU_COUNT(&set);
}

// A forked process says by its exit status on how many CPUs it may run: at most 255.
static int width_of_child(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(width());
    return child > 0 && waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    int main_width = width(), child_width = width_of_child();
    int cpus[MAX_THREADS], bound[MAX_THREADS], threads = 0, own = 0;
    char *text = NULL;
    size_t size;

#pragma omp parallel
    {
        int self = omp_get_thread_num();
        cpu_set_t set;
#pragma omp barrier
        if (self < MAX_THREADS) {
            sched_getaffinity(0, sizeof set, &set);
            bound[self] = CPU_COUNT(&set) == 1;
            cpus[self] = sched_getcpu();
        }
#pragma omp single
        threads = omp_get_num_threads() < MAX_THREADS ? omp_get_num_threads() : MAX_THREADS;
    }
    for (int i = 0; i < threads; i++) {
        int alone = bound[i];
        for (int k = 0; k < threads; k++)
            alone &= k == i || cpus[k] != cpus[i];
        own += alone;
    }

    FILE *out = open_memstream(&text, &size);
    if (!out)
        return 1;
    fprintf(out, "rank=%s main=%d child=%d own=%d cpus=", getenv("SLURM_PROCID"), main_width,
            child_width, own);
    for (int i = 0; i < threads; i++)
        fprintf(out, "%s%d", i ? "," : "", cpus[i]);
    add_environment(out);
    fputc('\n', out);
    fclose(out);
    fputs(text, stdout); // at once, so that ranks' lines do not mix
    free(text);
    return 0;
}
