/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/publisher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/stepd/task_gpus.h"
#include "util/variable.h"

/* PMIx answers within a millisecond; this limit only ends a hang, in a thread. With contain_spank,
 * hooks run in a process that shares slurmstepd's memory and must not start threads: there PMIx is
 * asked without a thread, and without a limit. */
#define OPEN_TIMEOUT_MS 1000

void publisher_prepare(const struct step_run *c, spank_t spank)
{
    struct nuioa_error err;
    char **environment = step_environment(spank);
    /* `all` counts all components of a heterogeneous step. */
    uint32_t all = nuioa_variable_number(environment, "SLURM_STEP_NUM_TASKS", UINT32_MAX, 0), ranks;
    if (!(c->facts->options.export_set & NUIOA_EXPORT_PMIX))
        return;
    if (spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &ranks) != ESPANK_SUCCESS)
        ranks = c->facts->step.task_count;
    if (nuioa_publish_prepare(all > ranks ? all : ranks, environment, &err) < 0)
        slurm_info("nuioa: %s", err.text);
}

/* Replaces the step's ranks with those of PMIx. False: PMIx has a rank that is too large. */
static bool take_ranks(struct step_run *c)
{
    const uint32_t *ranks = nuioa_publish_ranks(c->publisher);
    for (uint32_t i = 0; i < c->facts->step.task_count; i++)
        if (ranks[i] >= STEP_RANKS_MAX)
            return false;
    memcpy(c->facts->step.ranks, ranks, c->facts->step.task_count * sizeof(*c->facts->step.ranks));
    return true;
}

void publisher_open(struct step_run *c, spank_t spank)
{
    struct nuioa_namespaces names;
    struct nuioa_error err;
    uint32_t job_id, step_id;
    if (!(c->facts->options.export_set & (NUIOA_EXPORT_PMIX | NUIOA_EXPORT_LOCALITY)) ||
        spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS)
        return;
    nuioa_namespaces_guess(&names, step_environment(spank), job_id, step_id);
    unsigned timeout_ms = getpid() == c->facts->pid ? OPEN_TIMEOUT_MS : 0;
    if (nuioa_publish_open(&names, c->facts->step.task_count, timeout_ms, &c->publisher, &err) < 0)
        nuioa_warn(&c->faults, "PMIx keys are not published: %s", err.text);
    if (c->publisher && !take_ranks(c)) {
        nuioa_warn(&c->faults, "PMIx keys are not published: PMIx has ranks above %u",
                   STEP_RANKS_MAX - 1);
        publisher_close(c);
    }
}

void publisher_close(struct step_run *c)
{
    nuioa_publish_close(c->publisher);
    c->publisher = NULL;
}

/* Copies the assignments of a plan, without the NICs of tasks that find them by themselves. The
 * copies do not own what they point to. Returns NULL without memory. */
static struct nuioa_assignment *settled(const struct step_run *c, const struct nuioa_plan *plan)
{
    struct nuioa_assignment *all = malloc(plan->task_count * sizeof(*all));
    for (uint32_t i = 0; all && i < plan->task_count; i++) {
        all[i] = plan->assignments[i];
        if (task_gpus_open(c, i)) {
            all[i].nic = -1;
            all[i].nic_count = 0;
            all[i].level = NUIOA_NO_LEVEL;
        }
    }
    return all;
}

void publisher_publish(struct step_run *c, const struct nuioa_plan *plan)
{
    struct nuioa_plan shown = *plan;
    struct nuioa_publication publication = { &shown, &c->facts->node, &c->facts->options };
    struct nuioa_error err = { "out of memory" };
    struct nuioa_assignment *copies = NULL;
    if (!c->publisher)
        return;
    if (c->gpus)
        shown.assignments = copies = settled(c, plan);
    int rc = shown.assignments ? nuioa_publish_tasks(c->publisher, &publication, &err) : -ENOMEM;
    free(copies);
    publication.plan = plan;
    if (!rc)
        rc = nuioa_publish_node(c->publisher, &publication, &err);
    if (rc < 0)
        nuioa_warn(&c->faults, "PMIx keys: %s", err.text);
    struct nuioa_published published = nuioa_publish_done(c->publisher);
    slurm_debug("nuioa: %u PMIx keys in %s, %uus", published.key_count, published.nspace,
                published.time_us);
    publisher_close(c);
}
