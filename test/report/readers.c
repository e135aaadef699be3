/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "spank/common/log.h"
#include "spank/stepd/cgroup.h"
#include "spank/stepd/flows.h"
#include "util/number.h"

/* Nodes that read the flows of their two ranks at the same time, each from a file of its own, as in
 * their launches. Prints how many have taken the flows, how many the list; and how long they waited
 * from the start of their children: the median and the longest, in ms. Usage: readers DIR COUNT */

static char variable[256];
static char *environment[] = { variable, NULL };

/* --- Slurm's part --- */

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    va_list args;
    (void)spank;
    va_start(args, item);
    void *to = va_arg(args, void *);
    if (item == S_JOB_SUPPLEMENTARY_GIDS) {
        *(gid_t **)to = NULL;
        *va_arg(args, int *) = 0;
    } else {
        *(uid_t *)to = USER_UID;
    }
    va_end(args);
    return ESPANK_SUCCESS;
}

char **step_environment(spank_t spank)
{
    (void)spank;
    return environment;
}

void slurm_info(const char *format, ...)
{
    (void)format;
}

void cgroup_leave_step(pid_t pid)
{
    (void)pid;
}

/* --- nodes --- */

struct outcome {
    int64_t waited_ms;
    bool flows;
};

static struct outcome read_as_node(uint32_t node, const char *directory)
{
    static struct step_facts f;
    static struct step_run c = { .facts = &f, .active = true };
    uint32_t ranks[2] = { node * 2 % 10000, node * 2 % 10000 + 1 };
    snprintf(variable, sizeof(variable), "SLURM_NUIOA_HINTS_PATH=%s/%u", directory, node);
    nuioa_copy(f.options.hints, sizeof(f.options.hints), "@file");
    f.pid = getpid();
    f.step.node_id = 1;
    f.step.task_count = 2;
    f.step.ranks = ranks;
    int64_t begin = clock_ms();
    flows_begin(&c, NULL);
    flows_take(&c);
    struct outcome outcome = { clock_ms() - begin, c.profile.weights };
    flows_end(&c);
    return outcome;
}

static int by_time(const void *a, const void *b)
{
    int64_t left = ((const struct outcome *)a)->waited_ms;
    int64_t right = ((const struct outcome *)b)->waited_ms;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    int go[2], results[2];
    char byte;
    if (argc != 3 || pipe(go) < 0 || pipe(results) < 0)
        return 2;
    uint32_t count = (uint32_t)atoi(argv[2]), flows = 0, got = 0;
    struct outcome *all = calloc(count, sizeof(*all));
    for (uint32_t i = 0; i < count; i++)
        if (fork() == 0) {
            close(go[1]);
            if (read(go[0], &byte, 1) < 0)
                _exit(1);
            struct outcome outcome = read_as_node(i, argv[1]);
            _exit(write(results[1], &outcome, sizeof(outcome)) != sizeof(outcome));
        }
    close(go[1]);
    close(results[1]);
    while (got < count && read(results[0], &all[got], sizeof(*all)) == sizeof(*all))
        flows += all[got++].flows;
    if (!got || got < count) {
        fprintf(stderr, "readers: %u of %u nodes have ended\n", got, count);
        return 1;
    }
    qsort(all, count, sizeof(*all), by_time);
    printf("%u %u %lld %lld\n", flows, count - flows, (long long)all[count / 2].waited_ms,
           (long long)all[count - 1].waited_ms);
    return 0;
}
