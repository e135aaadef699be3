/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/report.h"
#include "spank/context.h"
#include "spank/log.h"
#include "spank/option_sources.h"
#include "spank/placement.h"
#include "spank/preload.h"
#include "spank/publisher.h"
#include "spank/rank.h"
#include "spank/rendezvous.h"
#include "spank/rendezvous/wire.h"
#include "topology/cache.h"

/* What a task grants slurmstepd beyond the time that nodes may wait for each other. */
#define SLACK_MS 2000

/* slurmstepd, as root: nothing here may fail a launch. What goes wrong is remembered as a fault
 * and said once, the job runs as Slurm made it. */

static void stand_down(struct stepd_context *c, const char *why)
{
    nuioa_warn(&c->faults, "%s", why);
    c->active = false;
}

/* --- init_post_opt: before PMIx, before the job's stderr is connected ------------------------- */

static void read_options(struct stepd_context *c, spank_t spank, int argc, char **argv)
{
    struct complaints complaints;
    struct option_sources sources = { argc, argv, step_environment(spank), c->flags };
    option_sources_read(&sources, &c->options, &complaints);
    /* For slurmd.log: srun has told the user what he did wrong. */
    for (unsigned i = 0; i < complaints.plugstack.count; i++)
        slurm_error("nuioa: %s", complaints.plugstack.text[i]);
    for (unsigned i = 0; i < complaints.environment.count; i++)
        slurm_verbose("nuioa: %s", complaints.environment.text[i]);
    for (unsigned i = 0; i < complaints.flags.count; i++)
        slurm_verbose("nuioa: %s", complaints.flags.text[i]);
}

static void read_hints(struct stepd_context *c, spank_t spank)
{
    struct nuioa_error err;
    const char *value = c->options.hints;
    if (nuioa_hints_file(value)) {
        value = option_sources_variable(step_environment(spank), OPTION_SOURCES_HINTS_LIST);
        if (!value)
            nuioa_warn(&c->faults, "hints: srun, which reads %.150s, has no nuioa plugin; no hints",
                       c->options.hints);
    }
    if (value && *value && nuioa_hints_parse(&c->hints, value, &err) < 0)
        nuioa_warn(&c->faults, "hints: %s", err.text);
}

/* root reads it, so nobody else may have written it. */
static int check_topology(const char *path, struct nuioa_error *err)
{
    struct stat info;
    if (!*path)
        return 0;
    if (*path != '/')
        return nuioa_fail(err, -EINVAL, "topology=%s: not an absolute path", path);
    if (stat(path, &info) < 0)
        return nuioa_fail(err, -errno, "topology=%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return nuioa_fail(err, -EINVAL, "topology=%s: not a file", path);
    if ((info.st_uid != 0 && info.st_uid != geteuid()) || (info.st_mode & (S_IWGRP | S_IWOTH)))
        return nuioa_fail(err, -EPERM, "topology=%s: others than root can write it", path);
    return 0;
}

static int read_node(struct stepd_context *c, struct nuioa_error *err)
{
    const struct nuioa_options *o = &c->options;
    struct nuioa_source source = { *o->topology ? o->topology : NULL,
                                   *o->distances ? o->distances : NULL };
    int rc = check_topology(o->topology, err);
    if (!rc)
        rc = nuioa_cache_get(*o->cache ? o->cache : NULL, &source, o->deadline_ms, &c->node, err);
    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < c->node.warnings.count; i++)
        slurm_verbose("nuioa: %s", c->node.warnings.text[i]);
    if (c->node.emulated) /* the file may say where it was made */
        log_host(c->node.host, sizeof(c->node.host));
    return 0;
}

static void prepare(struct stepd_context *c, spank_t spank)
{
    struct nuioa_error err;
    if (step_read(spank, &c->step, &err) < 0 || read_node(c, &err) < 0) {
        stand_down(c, err.text);
        return;
    }
    read_hints(c, spank);
    c->pids = calloc(c->step.task_count, sizeof(*c->pids));
    c->task_memory = task_memory_new(c->step.task_count);
    if (!c->pids || !c->task_memory) {
        stand_down(c, "out of memory");
        return;
    }
    c->active = true;
    publisher_prepare(c, spank);
}

static void begin(struct stepd_context *c, spank_t spank, int argc, char **argv)
{
    c->pid = getpid();
    read_options(c, spank, argc, argv);
    if (c->options.mode == NUIOA_OFF)
        return;
    rank_forget(spank);
    if (!step_is_launcher(spank)) {
        prepare(c, spank);
        rendezvous_call(c, spank);
    }
}

/* What srun tells nodes alone: whatever becomes of the step here, what it runs does not see it. */
static void forget(spank_t spank, const char *name)
{
    if (option_sources_variable(step_environment(spank), name))
        spank_unsetenv(spank, name);
}

void stepd_init_post_opt(struct stepd_context *c, spank_t spank, int argc, char **argv)
{
    uint64_t since_us = nuioa_cpu_us();
    if (step_is_ordinary(spank))
        begin(c, spank, argc, argv);
    forget(spank, OPTION_SOURCES_HINTS_LIST);
    forget(spank, WIRE_VARIABLE);
    c->cpu_us = nuioa_cpu_us() - since_us;
}

/* So that the others need not wait for this node. */
static void excuse(struct stepd_context *c)
{
    rendezvous_tell(c, NULL);
    rendezvous_await(c);
}

/* --- user_init: the job's stderr is there ----------------------------------------------------- */

static void tell_faults(struct stepd_context *c)
{
    char host[64];
    log_faults(log_host(host, sizeof(host)), &c->faults);
    nuioa_warnings_clear(&c->faults);
}

/* What need not wait for the tasks is done before they are forked: after that each page that is
 * written is copied first. Later faults come with the plan; without one this is the time for
 * them. */
void stepd_user_init(struct stepd_context *c, spank_t spank)
{
    if (c->active) {
        uint64_t since_us = nuioa_cpu_us();
        publisher_open(c, spank);
        c->cpu_us += nuioa_cpu_us() - since_us;
        return;
    }
    excuse(c);
    tell_faults(c);
}

/* --- task_post_fork: all tasks exist, none runs ----------------------------------------------- */

/* What follows from options and hints is the same on all nodes: the first one says it. */
static void keep_warnings(struct stepd_context *c, const struct nuioa_plan *plan)
{
    for (unsigned i = 0; i < plan->warnings.count; i++)
        if (c->step.node_id == 0)
            nuioa_warn(&c->faults, "%s", plan->warnings.text[i]);
        else
            slurm_info("nuioa: %s", plan->warnings.text[i]);
}

static void report(struct stepd_context *c, const struct nuioa_plan *plan)
{
    if (!c->options.report && !c->options.explain)
        return;
    char *text = nuioa_report_text(plan, &c->node, &c->options, c->options.explain);
    log_text(text ? text : "nuioa: no report: out of memory");
    free(text);
}

/* Which GPUs a task has it alone will know: what is said here is true of all of them. */
static void report_gpus(struct stepd_context *c, const struct nuioa_plan *plan)
{
    if (!c->options.report && !c->options.explain)
        return;
    if (c->options.coll && rank_may_have_gpus(c, c->step.gpus))
        nuioa_warn(&c->faults, "coll: not used: the step has GPUs%s",
                   c->step.sees_gpu ? "" : ", or may have");
    if (!plan->planned && c->options.export_set & NUIOA_EXPORT_FOREIGN &&
        rank_may_have_several_gpus(c, c->step.gpus))
        nuioa_warn(
            &c->faults,
            "export: no variable names one NIC to a task that has several GPUs, or may have");
}

/* What was seen, for whoever wonders why nothing moved. */
static void log_request(const struct stepd_context *c, const struct placement *p)
{
    char cpus[128];
    hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), p->allowed_cpus);
    slurm_debug("nuioa: %u tasks from rank %u, step cores %s, may use CPUs %s%s%s%s: %s", p->count,
                c->step.ranks[0], c->step.cores ? c->step.cores : "unknown", cpus,
                c->step.bound_by_user ? ", --cpu-bind" : "",
                c->step.memory_by_user ? ", --mem-bind" : "", c->step.sees_gpu ? ", GPUs" : "",
                p->plan.reason);
}

/* What follows from a plan, and what it takes to do that aside. */
struct conclusion {
    struct stepd_context *context;
    struct placement placement;
    pthread_t thread;
    bool aside; /* the thread runs, or has run */
};

/* When the other nodes are there. */
static void conclude(struct stepd_context *c, const struct nuioa_plan *plan)
{
    uint32_t leader_count;
    rendezvous_await(c);
    const uint32_t *leaders = rendezvous_leaders(c, &leader_count);
    rank_prepare_job(c, leaders, leader_count);
    publisher_node(c, plan, leaders, leader_count);
    tell_faults(c);
    if (!rendezvous_is_reported(c))
        report(c, plan);
}

static void *conclude_aside(void *arg)
{
    struct conclusion *later = arg;
    conclude(later->context, &later->placement.plan);
    task_memory_open(later->context->task_memory);
    return NULL;
}

/* Slurm goes on setting the tasks up, which takes about as long as nodes wait for each other; they
 * stop in task_init. Signals are slurmstepd's. Where hooks run in a process that shares
 * slurmstepd's memory and ends after them (contain_spank), so would a thread. */
static bool begin_aside(struct conclusion *later)
{
    struct stepd_context *c = later->context;
    sigset_t all, before;
    if (!rendezvous_is_waiting(c) || getpid() != c->pid)
        return false;
    task_memory_close(c->task_memory);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    later->aside = !pthread_create(&later->thread, NULL, conclude_aside, later);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!later->aside)
        task_memory_open(c->task_memory);
    return later->aside;
}

static void end_conclusion(struct stepd_context *c)
{
    struct conclusion *later = c->conclusion;
    if (!later)
        return;
    if (later->aside) {
        rendezvous_wait_no_more(c);
        pthread_join(later->thread, NULL);
    }
    placement_free(&later->placement);
    free(later);
    c->conclusion = NULL;
}

/* Without a plan nothing of ours happens, and nobody waits for this node. What the ranks of all
 * nodes do together they do here, too, if the others have the table. */
static void give_up(struct stepd_context *c, const char *why)
{
    uint32_t leader_count;
    stand_down(c, why);
    publisher_close(c);
    excuse(c);
    const uint32_t *leaders = rendezvous_leaders(c, &leader_count);
    rank_prepare_job(c, leaders, leader_count);
    tell_faults(c);
}

/* Slurm waits for all that is done until there is a plan: together it may take no more processor
 * time than finding out about a node. Called before the plan; `since_us`: when this hook began. */
static void limit_planning(struct stepd_context *c, uint64_t since_us)
{
    uint64_t now_us = nuioa_cpu_us(), spent_us = c->cpu_us + (now_us - since_us);
    uint64_t all_us = (uint64_t)c->options.deadline_ms * 1000;
    c->cpu_until_us = now_us + (spent_us < all_us ? all_us - spent_us : 0);
}

static void decide(struct stepd_context *c)
{
    uint64_t since_us = nuioa_cpu_us();
    struct nuioa_error err;
    struct conclusion *later = c->conclusion = calloc(1, sizeof(*later));
    if (!later) {
        give_up(c, "out of memory");
        return;
    }
    later->context = c;
    rendezvous_hints(c);
    limit_planning(c, since_us);
    if (placement_make(c, &later->placement, &err) < 0) {
        give_up(c, err.text);
        return;
    }
    log_request(c, &later->placement);
    if (placement_bind(c, &later->placement, &err) < 0)
        nuioa_warn(&c->faults, "%s", err.text);
    keep_warnings(c, &later->placement.plan);
    report_gpus(c, &later->placement.plan);
    rendezvous_tell(c, &later->placement);
    publisher_tasks(c, &later->placement.plan); /* while others are waited for */
    rank_prepare(c, &later->placement.plan);
    if (!begin_aside(later))
        conclude(c, &later->placement.plan);
}

void stepd_task_post_fork(struct stepd_context *c, spank_t spank)
{
    int local = -1;
    pid_t pid = 0;
    if (!c->active || spank_get_item(spank, S_TASK_ID, &local) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_TASK_PID, &pid) != ESPANK_SUCCESS || local < 0 ||
        (uint32_t)local >= c->step.task_count || pid <= 0 || c->pids[local])
        return;
    c->pids[local] = pid;
    if (++c->forked == c->step.task_count)
        decide(c);
}

/* --- task_init, in the task, as the user ------------------------------------------------------ */

uint32_t *stepd_task_init(struct stepd_context *c, spank_t spank)
{
    int local = -1;
    bool ours = c->task_memory && spank_get_item(spank, S_TASK_ID, &local) == ESPANK_SUCCESS &&
                local >= 0 && (uint32_t)local < c->step.task_count;
    if (ours)
        rank_enter(c, (uint32_t)local, spank);
    bool told = ours && task_memory_wait(c->task_memory, c->options.timeout_ms + SLACK_MS);
    if (told)
        rank_enter_job(c->task_memory, (uint32_t)local, spank);
    preload_enter(c, told, spank);
    return ours ? &c->task_memory->tasks[local].init_us : NULL;
}

void stepd_exit(struct stepd_context *c)
{
    uint32_t task_us = 0;
    end_conclusion(c);
    for (uint32_t i = 0; c->task_memory && i < c->step.task_count; i++)
        if (c->task_memory->tasks[i].init_us > task_us)
            task_us = c->task_memory->tasks[i].init_us;
    if (c->options.mode != NUIOA_OFF)
        slurm_debug("nuioa: timing init_post_opt=%uus task_post_fork=%uus last_task_post_fork=%uus "
                    "task_init=%uus (longest)",
                    c->init_us, c->fork_us, c->last_fork_us, task_us);
    task_memory_free(c->task_memory, c->step.task_count);
    free(c->pids);
    c->task_memory = NULL;
    c->pids = NULL;
    c->active = false;
    publisher_close(c);
    rendezvous_end(c);
    free(c->weights);
    free(c->pairs);
    c->weights = NULL;
    c->pairs = NULL;
    step_free(&c->step);
    nuioa_hints_free(&c->hints);
    nuioa_node_free(&c->node);
}
