/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <slurm/spank.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plan/bind.h"
#include "plan/plan.h"
#include "pmix/server/publish.h"
#include "profile/hints.h"
#include "topology/node_load.h"

/* A SPANK plugin for tests, which is not installed. It plans and publishes as the real one does,
 * but reads its own arguments only, and can make errors that the real one does not make.
 *
 * Its arguments are those of plugstack.conf, and these:
 *
 *     bind          binds each local rank to one CPU first, round robin
 *     misname       tries a namespace that does not exist, and no other
 *     unprepared    does not call nuioa_publish_prepare
 *     shift=N       takes ranks that are N too low, as in a heterogeneous job */

SPANK_PLUGIN(nuioa_trial, 1)

static struct {
    struct nuioa_options options;
    bool bind, misname, unprepared;
    uint32_t shift;
    uint32_t count, forked;
    pid_t *pids;
} trial;

static void read_argument(char *name)
{
    struct nuioa_error err;
    char *value = strchr(name, '=');
    if (value)
        *value++ = '\0';
    if (!strcmp(name, "bind"))
        trial.bind = true;
    else if (!strcmp(name, "misname"))
        trial.misname = true;
    else if (!strcmp(name, "unprepared"))
        trial.unprepared = true;
    else if (!strcmp(name, "shift"))
        trial.shift = (uint32_t)atoi(value);
    else if (nuioa_options_set(&trial.options, NUIOA_FROM_PLUGSTACK, name, value, &err) < 0)
        slurm_error("trial: %s", err.text);
}

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
    (void)spank;
    if (spank_context() != S_CTX_REMOTE)
        return 0;
    nuioa_options_init(&trial.options);
    for (int i = 0; i < argc; i++) {
        char *copy = strdup(argv[i]);
        if (copy)
            read_argument(copy);
        free(copy);
    }
    nuioa_options_finish(&trial.options);
    return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    struct nuioa_error err;
    uint32_t ranks = 0;
    char **environment = NULL;
    if (spank_context() != S_CTX_REMOTE || trial.unprepared)
        return 0;
    spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &ranks);
    spank_get_item(spank, S_JOB_ENV, &environment);
    if (nuioa_publish_prepare(ranks, environment, &err) < 0)
        slurm_info("trial: %s", err.text);
    return 0;
}

static int fill_masks(const struct nuioa_node *node, hwloc_bitmap_t *masks, struct nuioa_error *err)
{
    int cpu = -1, rc = 0;
    if (node->emulated) {
        if (nuioa_default_binding(node, node->allowed_cpus, trial.count, 1, masks, err) < 0)
            for (uint32_t i = 0; i < trial.count; i++)
                hwloc_bitmap_copy(masks[i], node->allowed_cpus);
        return 0;
    }
    for (uint32_t i = 0; i < trial.count && !rc; i++) {
        if ((cpu = hwloc_bitmap_next(node->allowed_cpus, cpu)) < 0)
            cpu = hwloc_bitmap_first(node->allowed_cpus);
        hwloc_bitmap_only(masks[i], (unsigned)cpu);
        if (trial.bind)
            rc = nuioa_bind_cpus(trial.pids[i], masks[i]);
        if (!rc)
            rc = nuioa_bind_read(trial.pids[i], masks[i]);
    }
    return rc;
}

/* Returns the CPU time of all threads, because PMIx works in a thread of its own. */
static long cpu_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

static void publish(spank_t spank, const struct nuioa_node *node, const struct nuioa_plan *plan)
{
    struct nuioa_namespaces namespaces;
    struct nuioa_publisher *publisher;
    struct nuioa_published published = { .nspace = "" };
    struct nuioa_error err = { "" };
    char **environment = NULL, mounts[64] = "";
    uint32_t job = 0, step = 0;
    spank_get_item(spank, S_JOB_ID, &job);
    spank_get_item(spank, S_JOB_STEPID, &step);
    spank_get_item(spank, S_JOB_ENV, &environment);
    nuioa_namespaces_guess(&namespaces, environment, job, step);
    if (trial.misname) {
        namespaces.count = 1;
        strcpy(namespaces.names[0], "slurm.pmix.4294967295.7");
    }
    struct nuioa_publication publication = { plan, node, &trial.options };
    long before_us = cpu_us();
    uint32_t first = 0;
    int known = nuioa_publish_open(&namespaces, trial.count, 0, &publisher, &err), rc = known;
    if (publisher) {
        known = (int)trial.count;
        first = *nuioa_publish_ranks(publisher);
        rc = nuioa_publish_tasks(publisher, &publication, &err);
        rc = rc < 0 ? rc : nuioa_publish_node(publisher, &publication, &err);
        published = nuioa_publish_done(publisher);
        rc = rc < 0 ? rc : (int)published.key_count;
    }
    long used_us = cpu_us() - before_us;
    if (readlink("/proc/self/ns/mnt", mounts, sizeof(mounts) - 1) < 0)
        strcpy(mounts, "?");
    slurm_info("trial: ranks=%d first=%u rc=%d nspace=%s pmix=%u keys=%u time_us=%u cpu_us=%ld "
               "in=%s error=%s",
               known, first, rc, published.nspace, published.pmix_version, published.key_count,
               published.time_us, used_us, mounts, err.text);
    nuioa_publish_close(publisher);
}

static int plan_and_publish(spank_t spank, const struct nuioa_node *node, hwloc_bitmap_t *masks,
                            struct nuioa_task *tasks, struct nuioa_error *err)
{
    struct nuioa_hints hints = { 0 };
    struct nuioa_plan plan;
    int rc = *trial.options.hints ? nuioa_hints_parse(&hints, trial.options.hints, err) : 0;
    if (!rc)
        rc = fill_masks(node, masks, err);
    for (uint32_t i = 0; i < trial.count && !rc; i++) {
        uint32_t rank = i;
        spank_get_item(spank, S_JOB_LOCAL_TO_GLOBAL_ID, i, &rank);
        tasks[i] = (struct nuioa_task){
            .rank = rank - trial.shift,
            .cpus = masks[i],
            .gpus_known = true,
            .weight = nuioa_hints_weight(&hints, rank),
        };
    }
    struct nuioa_request request = {
        .node = node,
        .options = &trial.options,
        .task_count = trial.count,
        .tasks = tasks,
        .hinted = hints.count > 0,
        .planned = node->emulated,
        .stay = node->emulated ? NUIOA_REASON_NONE : NUIOA_REASON_EXEC_BOUND,
    };
    if (!rc)
        rc = nuioa_plan_make(&request, &plan, err);
    if (rc >= 0) {
        publish(spank, node, &plan);
        nuioa_plan_free(&plan);
    }
    nuioa_hints_free(&hints);
    return rc;
}

static void decide(spank_t spank)
{
    struct nuioa_node node;
    struct nuioa_error err = { "out of memory" };
    struct nuioa_source source = { *trial.options.topology ? trial.options.topology : NULL, NULL };
    hwloc_bitmap_t *masks = calloc(trial.count, sizeof(*masks));
    struct nuioa_task *tasks = calloc(trial.count, sizeof(*tasks));
    int rc = masks && tasks ? nuioa_node_load(&node, &source, &err) : -ENOMEM;
    if (!rc) {
        for (uint32_t i = 0; i < trial.count; i++)
            masks[i] = hwloc_bitmap_alloc();
        rc = plan_and_publish(spank, &node, masks, tasks, &err);
        for (uint32_t i = 0; i < trial.count; i++)
            hwloc_bitmap_free(masks[i]);
        nuioa_node_free(&node);
    }
    if (rc < 0)
        slurm_error("trial: %s", err.text);
    free(masks);
    free(tasks);
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    int local = -1;
    pid_t pid = 0;
    if (!trial.pids &&
        (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &trial.count) != ESPANK_SUCCESS ||
         !(trial.pids = calloc(trial.count, sizeof(*trial.pids)))))
        return 0;
    spank_get_item(spank, S_TASK_ID, &local);
    spank_get_item(spank, S_TASK_PID, &pid);
    if (local >= 0 && (uint32_t)local < trial.count)
        trial.pids[local] = pid;
    if (++trial.forked == trial.count)
        decide(spank);
    return 0;
}
