/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/launch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "spank/common/slurm_compat.h"
#include "spank/stepd/flows.h"
#include "spank/stepd/gpu_table.h"
#include "spank/stepd/placement.h"
#include "spank/stepd/publisher.h"
#include "spank/stepd/rank_settings.h"
#include "spank/stepd/report_stepd.h"
#include "spank/stepd/task_gpus.h"
#include "util/clock.h"

/* A plan's warnings follow from options and hints, which are the same on all nodes, so only the
 * first node passes them on to the user; and another one whose NICs are down. */
static void take_plan_warnings(struct step_run *c, const struct nuioa_plan *plan)
{
    for (unsigned i = 0; i < plan->warnings.count; i++)
        if (c->facts->step.node_id == 0 || plan->why == NUIOA_REASON_NIC_DOWN)
            nuioa_warn(&c->faults, "%s", plan->warnings.text[i]);
        else
            slurm_info("nuioa: %s", plan->warnings.text[i]);
}

/* Warns of what the step's GPUs forbid. */
static void warn_gpus(struct step_run *c, const struct nuioa_plan *plan)
{
    const struct nuioa_options *o = &c->facts->options;
    struct task_gpus_counts tasks = task_gpus_count(c);
    if ((!o->report && !o->explain) || plan->planned || !(o->export_set & NUIOA_EXPORT_LIBRARIES))
        return;
    if (tasks.by_rank && !o->asked)
        nuioa_warn(
            &c->faults,
            "export: %u of %u ranks get no variable that chooses NICs: the site only assumes "
            "gpus=local-rank. Use srun --nuioa",
            tasks.by_rank, c->facts->step.task_count);
    if (tasks.lost && task_gpus_are_possible(c, c->facts->step.gpus))
        nuioa_warn(&c->faults, "export: %u of %u ranks get no variable that chooses NICs: %s",
                   tasks.lost, c->facts->step.task_count,
                   tasks.shared == tasks.lost
                       ? "they see the same GPUs. Use --gpus-per-task=1 (from Slurm 23.11 on with "
                         "--gres-flags=allow-task-sharing)"
                       : "their GPUs are unknown");
}

/* Logs what the plan was made from: it explains why no task was moved. */
static void log_request(const struct step_run *c, const struct placement *p)
{
    char cpus[128];
    hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), p->allowed_cpus);
    slurm_debug("nuioa: %u tasks from rank %u, step cores %s, may use CPUs %s%s%s%s: %s", p->count,
                c->facts->step.ranks[0], c->facts->step.cores ? c->facts->step.cores : "unknown",
                cpus, c->facts->step.asked.bound_by_user ? ", --cpu-bind" : "",
                c->facts->step.asked.memory_by_user ? ", --mem-bind" : "",
                c->facts->step.sees_gpu ? ", GPUs" : "", p->plan.reason);
}

/* A task waits for the thread so much longer than the thread may wait. */
#define SLACK_MS 2000

/* The plan, the work that remains after it, and the thread that may do both. */
struct launch {
    struct step_run *context;
    struct placement placement;
    pthread_t thread;
    bool started; /* the thread runs or has run, and is to be joined */
};

/* There is no plan: the tasks stay where Slurm put them. */
static void give_up(struct step_run *c, const char *why)
{
    nuioa_warn(&c->faults, "%s", why);
    c->active = false;
    publisher_close(c);
    report_stepd_tell(c, NULL);
}

/* Slurm waits until the plan is made, so all hooks together may use no more CPU time for it than
 * the option deadline_ms allows for the discovery of a node. `since_us` is the CPU time of this
 * thread when this hook began. Returns when planning must end, by nuioa_cpu_us() of this thread. */
static uint64_t planning_end(const struct step_run *c, uint64_t since_us)
{
    uint64_t now_us = nuioa_cpu_us(), spent_us = c->times.cpu_us + (now_us - since_us);
    uint64_t all_us = (uint64_t)c->facts->options.deadline_ms * 1000;
    return now_us + (spent_us < all_us ? all_us - spent_us : 0);
}

/* Makes the plan, carries it out, writes what the tasks need, and tells the user. `stay` says why
 * none may move, or is NUIOA_REASON_NONE. */
static void place(struct launch *later, enum nuioa_reason stay)
{
    struct step_run *c = later->context;
    uint64_t since_us = nuioa_cpu_us();
    struct nuioa_error err;
    flows_take(c);
    if (placement_make(c, stay, planning_end(c, since_us), &later->placement, &err) < 0) {
        give_up(c, err.text);
        return;
    }
    log_request(c, &later->placement);
    if (placement_bind(c, &later->placement, &err) < 0)
        nuioa_warn(&c->faults, "%s", err.text);
    take_plan_warnings(c, &later->placement.plan);
    warn_gpus(c, &later->placement.plan);
    publisher_publish(c, &later->placement.plan);
    rank_settings_write(c, &later->placement.plan);
    gpu_table_write(c, &later->placement.request);
    report_stepd_tell(c, &later->placement);
}

/* The tasks wait in task_init, where nothing of the user's runs yet. A task that is late, or that
 * has ended, delays the others, and then none moves. */
static void *place_in_thread(void *arg)
{
    struct launch *later = arg;
    bool told = task_gpus_await(later->context);
    place(later, told ? NUIOA_REASON_NONE : NUIOA_REASON_GPUS_LATE);
    task_memory_open(later->context->task_memory);
    return NULL;
}

/* Starts a thread, so that Slurm goes on to set up the tasks meanwhile; the tasks then wait in
 * task_init. The thread blocks all signals,
 * because they are for slurmstepd. With contain_spank the hooks run in a process that shares
 * slurmstepd's memory and ends after them, and a thread would end with it: then there is none. */
static bool start_thread(struct launch *later)
{
    struct step_run *c = later->context;
    sigset_t all, before;
    if (getpid() != c->facts->pid)
        return false;
    /* It waits for the tasks, and thinks. */
    task_memory_close(c->task_memory,
                      nuioa_clock_ms() + 2 * c->facts->options.deadline_ms + FLOWS_MS + SLACK_MS);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    later->started = !pthread_create(&later->thread, NULL, place_in_thread, later);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!later->started)
        task_memory_open(c->task_memory);
    return later->started;
}

/* Returns true if the plan has to wait until the tasks have told their GPUs: if something needs the
 * GPUs of all of them, which the kernel does not tell. The tasks themselves look up their NICs, and
 * need no plan for that. Where Slurm chooses a task's GPUs by its CPUs in the task itself, tasks
 * may move only after that. */
static bool plan_needs_tasks(const struct step_run *c)
{
    bool moves = c->facts->options.mode == NUIOA_ON;
    if (!c->gpus || !c->facts->step.sees_gpu)
        return false;
    if (task_gpus_known(c))
        return moves && slurm_compat_chooses_gpus_late();
    return moves || c->publisher || c->facts->options.report || c->facts->options.explain;
}

void launch_begin(struct step_run *c)
{
    struct launch *later = c->launch = calloc(1, sizeof(*later));
    if (!later) {
        give_up(c, "out of memory");
        return;
    }
    later->context = c;
    task_gpus_ask(c);
    bool early = plan_needs_tasks(c);
    if (early && start_thread(later))
        return;
    place(later, early && task_gpus_known(c) ? NUIOA_REASON_GPUS_NO_THREAD : NUIOA_REASON_NONE);
}

void launch_end(struct step_run *c)
{
    struct launch *later = c->launch;
    if (!later)
        return;
    if (later->started)
        pthread_join(later->thread, NULL);
    placement_free(&later->placement);
    free(later);
    c->launch = NULL;
}
