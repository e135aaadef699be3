/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/stepd.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/report.h"
#include "spank/stepd/gpu_table.h"
#include "spank/common/log.h"
#include "spank/common/option_sources.h"
#include "spank/stepd/other_steps.h"
#include "spank/stepd/placement.h"
#include "spank/stepd/preload.h"
#include "spank/stepd/publisher.h"
#include "spank/stepd/rank.h"
#include "spank/rendezvous/wire.h"
#include "spank/stepd/rendezvous_stepd.h"
#include "spank/common/slurm_compat.h"
#include "spank/stepd/task_gpus.h"
#include "topology/cache.h"
#include "topology/nic_subnet.h"
#include "util/clock.h"
#include "util/variable.h"

/* A task waits for slurmstepd so much longer than nodes may wait for each other. */
#define SLACK_MS 2000

/* Gives up the placement of this step on this node. */
static void deactivate(struct stepd_context *c, const char *why)
{
    nuioa_warn(&c->faults, "%s", why);
    c->active = false;
}

/* --- init_post_opt: before PMIx, before the job's stderr is connected ------------------------- */

static void read_options(struct stepd_context *c, spank_t spank, int argc, char **argv)
{
    struct option_warnings warnings;
    struct option_sources sources = { argc, argv, step_environment(spank), c->flags };
    option_sources_read(&sources, &c->options, &warnings);
    /* They go to slurmd.log only, because srun has printed those that concern the user. */
    for (unsigned i = 0; i < warnings.plugstack.count; i++)
        slurm_error("nuioa: %s", warnings.plugstack.text[i]);
    for (unsigned i = 0; i < warnings.environment.count; i++)
        slurm_verbose("nuioa: %s", warnings.environment.text[i]);
    for (unsigned i = 0; i < warnings.flags.count; i++)
        slurm_verbose("nuioa: %s", warnings.flags.text[i]);
}

static void read_hints(struct stepd_context *c, spank_t spank)
{
    struct nuioa_error err;
    const char *value = c->options.hints;
    if (nuioa_hints_file(value)) {
        value = nuioa_variable(step_environment(spank), OPTION_SOURCES_HINTS_LIST);
        if (!value)
            nuioa_warn(&c->faults,
                       "no hints: srun's host has no nuioa plugin to read %.120s; install it there",
                       c->options.hints);
    }
    if (value && *value && nuioa_hints_parse(&c->hints, value, &err) < 0)
        nuioa_warn(&c->faults, "hints: %s", err.text);
}

/* root parses this file, so only root may be able to write it. */
static int check_topology(const char *path, struct nuioa_error *err)
{
    struct stat info;
    if (!*path)
        return 0;
    if (*path != '/')
        return nuioa_fail(err, -EINVAL, "topology=%.150s: the path must begin with /", path);
    if (stat(path, &info) < 0)
        return nuioa_fail(err, -errno, "topology=%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return nuioa_fail(err, -EINVAL, "topology=%.150s: it is not a regular file", path);
    if ((info.st_uid != 0 && info.st_uid != geteuid()) || (info.st_mode & (S_IWGRP | S_IWOTH)))
        return nuioa_fail(
            err, -EPERM,
            "topology=%.120s: others than root can write it; use chown root and chmod go-w", path);
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
    if (o->export_set & NUIOA_EXPORT_FOREIGN)
        nuioa_nic_subnets_read(&c->node);
    for (unsigned i = 0; i < c->node.warnings.count; i++)
        slurm_verbose("nuioa: %s", c->node.warnings.text[i]);
    if (c->node.emulated) /* the file may name the machine where it was made */
        log_host(c->node.host, sizeof(c->node.host));
    return 0;
}

static void prepare_step(struct stepd_context *c, spank_t spank)
{
    struct nuioa_error err;
    if (step_read(spank, &c->step, &err) < 0 || read_node(c, &err) < 0) {
        deactivate(c, err.text);
        return;
    }
    read_hints(c, spank);
    c->pids = calloc(c->step.task_count, sizeof(*c->pids));
    c->task_memory = task_memory_new(c->step.task_count);
    if (!c->pids || !c->task_memory || task_gpus_prepare(c) < 0) {
        deactivate(c, "out of memory");
        return;
    }
    c->active = true;
    if (c->options.mode != NUIOA_OFF)
        other_steps_open(c, spank);
    publisher_prepare(c, spank);
}

static void begin_step(struct stepd_context *c, spank_t spank, int argc, char **argv)
{
    c->pid = getpid();
    read_options(c, spank, argc, argv);
    if (nuioa_options_idle(&c->options))
        return;
    if (c->options.mode != NUIOA_OFF)
        rank_unset_outer(spank);
    if (!step_is_launcher(spank)) {
        prepare_step(c, spank);
        rendezvous_stepd_call(c, spank);
    }
}

/* Removes a variable that srun set for the nodes, so that the user's program never sees it. */
static void unset(spank_t spank, const char *name)
{
    if (nuioa_variable(step_environment(spank), name))
        spank_unsetenv(spank, name);
}

void stepd_init_post_opt(struct stepd_context *c, spank_t spank, int argc, char **argv)
{
    uint64_t since_us = nuioa_cpu_us();
    if (step_is_ordinary(spank))
        begin_step(c, spank, argc, argv);
    unset(spank, OPTION_SOURCES_HINTS_LIST);
    unset(spank, OPTION_SOURCES_OVERLAP);
    unset(spank, OPTION_SOURCES_SWITCH);
    unset(spank, WIRE_VARIABLE);
    c->cpu_us = nuioa_cpu_us() - since_us;
}

/* Sends a record without a plan, so that the other nodes need not wait for this one. */
static void send_empty_record(struct stepd_context *c)
{
    rendezvous_stepd_send_record(c, NULL);
    rendezvous_stepd_await_leaders(c);
}

/* --- user_init: the job's stderr is connected ------------------------------------------------- */

static void print_faults(struct stepd_context *c)
{
    char host[64];
    log_faults(log_host(host, sizeof(host)), &c->faults);
    nuioa_warnings_clear(&c->faults);
}

/* As much as possible is done before the tasks are forked, because the kernel copies each page that
 * is written after that (copy-on-write). With a plan, faults are printed after it; without one they
 * are printed here. */
void stepd_user_init(struct stepd_context *c, spank_t spank)
{
    if (c->active) {
        uint64_t since_us = nuioa_cpu_us();
        publisher_open(c, spank);
        c->cpu_us += nuioa_cpu_us() - since_us;
        return;
    }
    send_empty_record(c);
    print_faults(c);
}

/* --- task_post_fork: all tasks exist, none runs ----------------------------------------------- */

/* A plan's warnings follow from options and hints, which are the same on all nodes, so only the
 * first node passes them on to the user. */
static void take_plan_warnings(struct stepd_context *c, const struct nuioa_plan *plan)
{
    for (unsigned i = 0; i < plan->warnings.count; i++)
        if (c->step.node_id == 0)
            nuioa_warn(&c->faults, "%s", plan->warnings.text[i]);
        else
            slurm_info("nuioa: %s", plan->warnings.text[i]);
}

static void print_report(struct stepd_context *c, const struct nuioa_plan *plan)
{
    if (!c->options.report && !c->options.explain)
        return;
    char *text = nuioa_report_text(plan, &c->node, &c->options, c->options.explain);
    log_text(text ? text : "nuioa: no report: out of memory");
    free(text);
}

/* Warns of what the step's GPUs forbid. */
static void warn_gpus(struct stepd_context *c, const struct nuioa_plan *plan)
{
    uint32_t lost = task_gpus_lost(c), shared = task_gpus_shared(c);
    if (!c->options.report && !c->options.explain)
        return;
    if (!plan->planned && c->options.export_set & NUIOA_EXPORT_FOREIGN && lost &&
        rank_may_have_gpus(c, c->step.gpus))
        nuioa_warn(&c->faults,
                   "export: %u of %u ranks get no variable that chooses NICs, because %s", lost,
                   c->step.task_count,
                   shared == lost ? "they see the same GPUs, and nobody knows which rank uses "
                                    "which (--gpus-per-task=1 gives each its own)"
                                  : "nobody knows which GPUs they have");
}

/* Logs what the plan was made from: it explains why no task was moved. */
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

/* The plan, the work that remains after it, and the thread that may do both. */
struct completion {
    struct stepd_context *context;
    struct placement placement;
    pthread_t thread;
    bool started; /* the thread runs or has run, and is to be joined */
};

/* There is no plan: the tasks stay where Slurm put them, and the other nodes do not wait for this
 * one. The ranks here still get the leaders of all nodes, because with coll=on either all ranks of
 * a job use the library or none does. */
static void give_up(struct stepd_context *c, const char *why)
{
    uint32_t leader_count;
    deactivate(c, why);
    publisher_close(c);
    send_empty_record(c);
    const uint32_t *leaders = rendezvous_stepd_leaders(c, &leader_count);
    rank_prepare_job(c, leaders, leader_count);
    print_faults(c);
}

/* Slurm waits until the plan is made, so all hooks together may use no more CPU time for it than
 * the option deadline_ms allows for the discovery of a node. `since_us` is the CPU time of this
 * thread when this hook began. */
static void limit_planning(struct stepd_context *c, uint64_t since_us)
{
    uint64_t now_us = nuioa_cpu_us(), spent_us = c->cpu_us + (now_us - since_us);
    uint64_t all_us = (uint64_t)c->options.deadline_ms * 1000;
    c->cpu_until_us = now_us + (spent_us < all_us ? all_us - spent_us : 0);
}

/* Makes the plan, carries it out, and writes what the tasks need. `stay` says why none may move, or
 * is NULL. Returns false if there is no plan. */
static bool place(struct completion *later, const char *stay)
{
    struct stepd_context *c = later->context;
    uint64_t since_us = nuioa_cpu_us();
    struct nuioa_error err;
    rendezvous_stepd_receive_hints(c);
    limit_planning(c, since_us);
    if (placement_make(c, stay, &later->placement, &err) < 0) {
        give_up(c, err.text);
        return false;
    }
    log_request(c, &later->placement);
    if (placement_bind(c, &later->placement, &err) < 0)
        nuioa_warn(&c->faults, "%s", err.text);
    other_steps_tell(c, &later->placement.plan);
    take_plan_warnings(c, &later->placement.plan);
    warn_gpus(c, &later->placement.plan);
    rendezvous_stepd_send_record(c, &later->placement);
    publisher_tasks(c, &later->placement.plan); /* while the other nodes are on their way */
    rank_prepare(c, &later->placement.plan);
    gpu_table_write(c, &later->placement.request);
    return true;
}

/* Waits for the other nodes, and does what needs the leaders of all nodes. */
static void complete(struct completion *later)
{
    struct stepd_context *c = later->context;
    const struct nuioa_plan *plan = &later->placement.plan;
    uint32_t leader_count;
    rendezvous_stepd_await_leaders(c);
    const uint32_t *leaders = rendezvous_stepd_leaders(c, &leader_count);
    rank_prepare_job(c, leaders, leader_count);
    publisher_node(c, plan, leaders, leader_count);
    print_faults(c);
    if (!rendezvous_stepd_is_reported(c))
        print_report(c, plan);
}

static void *complete_in_thread(void *arg)
{
    struct completion *later = arg;
    complete(later);
    task_memory_open(later->context->task_memory);
    return NULL;
}

/* The tasks wait in task_init, where nothing of the user's runs yet. A task that is late, or that
 * has ended, delays the others, and then none moves. */
static void *place_in_thread(void *arg)
{
    struct completion *later = arg;
    bool told = task_gpus_await(later->context);
    if (place(later, told ? NULL
                          : "not all tasks told their GPUs in time: ranks stay where Slurm put "
                            "them"))
        complete(later);
    task_memory_open(later->context->task_memory);
    return NULL;
}

/* Starts a thread, so that Slurm goes on to set up the tasks, which takes about as long as the
 * nodes wait for each other; the tasks then wait in task_init. The thread blocks all signals,
 * because they are for slurmstepd. With contain_spank the hooks run in a process that shares
 * slurmstepd's memory and ends after them, and a thread would end with it: then there is none. */
static bool start_thread(struct completion *later, void *(*run)(void *))
{
    struct stepd_context *c = later->context;
    sigset_t all, before;
    if (getpid() != c->pid)
        return false;
    task_memory_close(c->task_memory);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    later->started = !pthread_create(&later->thread, NULL, run, later);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!later->started)
        task_memory_open(c->task_memory);
    return later->started;
}

static void end_completion(struct stepd_context *c)
{
    struct completion *later = c->completion;
    if (!later)
        return;
    if (later->started) {
        rendezvous_stepd_stop_waiting(c);
        pthread_join(later->thread, NULL);
    }
    placement_free(&later->placement);
    free(later);
    c->completion = NULL;
}

/* Returns true if the plan has to wait until the tasks have told their GPUs: if something needs the
 * GPUs of all of them, which the kernel does not tell. The tasks themselves look up their NICs, and
 * need no plan for that. Where Slurm chooses a task's GPUs by its CPUs in the task itself, tasks
 * may move only after that. */
static bool plan_needs_tasks(const struct stepd_context *c)
{
    bool moves = c->options.mode == NUIOA_ON;
    if (!c->gpus || !c->step.sees_gpu)
        return false;
    if (task_gpus_known(c))
        return moves && slurm_compat_chooses_gpus_late();
    return moves || c->publisher || c->options.report || c->options.explain;
}

static void place_tasks(struct stepd_context *c)
{
    struct completion *later = c->completion = calloc(1, sizeof(*later));
    if (!later) {
        give_up(c, "out of memory");
        return;
    }
    later->context = c;
    task_gpus_ask(c);
    bool early = plan_needs_tasks(c);
    if (early && start_thread(later, place_in_thread))
        return;
    if (!place(later,
               early && task_gpus_known(c)
                   ? "Slurm chooses GPUs by the CPUs of each rank, and there is no thread to "
                     "wait for it: ranks stay"
                   : NULL))
        return;
    if (!rendezvous_stepd_is_waiting(c) || !start_thread(later, complete_in_thread))
        complete(later);
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
        place_tasks(c);
}

/* --- task_init, in the task, as the user ------------------------------------------------------ */

static unsigned longest_wait_ms(const struct stepd_context *c)
{
    /* For steps with GPUs the thread may wait for the other tasks, and then make the plan. */
    return c->options.timeout_ms + SLACK_MS + (c->gpus ? 2 * c->options.deadline_ms : 0);
}

uint32_t *stepd_task_init(struct stepd_context *c, spank_t spank)
{
    int local = -1;
    bool ours = c->task_memory && spank_get_item(spank, S_TASK_ID, &local) == ESPANK_SUCCESS &&
                local >= 0 && (uint32_t)local < c->step.task_count;
    if (ours)
        rank_tell(c, (uint32_t)local, spank);
    bool complete = ours && task_memory_wait(c->task_memory, longest_wait_ms(c));
    if (ours)
        rank_enter(c, (uint32_t)local, spank);
    if (complete)
        rank_enter_job(c->task_memory, (uint32_t)local, spank);
    preload_enter(c, complete, spank);
    return ours ? &c->task_memory->tasks[local].init_us : NULL;
}

void stepd_exit(struct stepd_context *c)
{
    uint32_t task_us = 0;
    end_completion(c);
    for (uint32_t i = 0; c->task_memory && i < c->step.task_count; i++)
        if (c->task_memory->tasks[i].init_us > task_us)
            task_us = c->task_memory->tasks[i].init_us;
    if (!nuioa_options_idle(&c->options))
        slurm_debug("nuioa: timing init_post_opt=%uus task_post_fork=%uus last_task_post_fork=%uus "
                    "task_init=%uus (longest)",
                    c->init_us, c->fork_us, c->last_fork_us, task_us);
    task_memory_free(c->task_memory, c->step.task_count);
    free(c->pids);
    free(c->gpus);
    c->task_memory = NULL;
    c->pids = NULL;
    c->gpus = NULL;
    c->active = false;
    publisher_close(c);
    rendezvous_stepd_end(c);
    other_steps_close(c);
    free(c->weights);
    free(c->pairs);
    c->weights = NULL;
    c->pairs = NULL;
    step_free(&c->step);
    nuioa_hints_free(&c->hints);
    nuioa_node_free(&c->node);
}
