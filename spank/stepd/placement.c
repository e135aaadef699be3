/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/bind.h"
#include "plan/plan.h"
#include "spank/stepd/cgroup.h"
#include "spank/stepd/task_gpus.h"

static int no_memory(struct nuioa_error *err)
{
    return nuioa_fail(err, -ENOMEM, "out of memory");
}

static int allocate(struct placement *p, uint32_t count, uint32_t gpu_count,
                    struct nuioa_error *err)
{
    memset(p, 0, sizeof(*p));
    p->masks = calloc(count, sizeof(*p->masks));
    p->tasks = calloc(count, sizeof(*p->tasks));
    p->gpus = calloc((size_t)count * gpu_count + 1, sizeof(*p->gpus));
    p->allowed_cpus = hwloc_bitmap_alloc();
    if (!p->masks || !p->tasks || !p->gpus || !p->allowed_cpus)
        return no_memory(err);
    p->count = count;
    for (uint32_t i = 0; i < count; i++)
        if (!(p->masks[i] = hwloc_bitmap_alloc()))
            return no_memory(err);
    return 0;
}

void placement_free(struct placement *p)
{
    nuioa_plan_free(&p->plan);
    for (uint32_t i = 0; i < p->count; i++)
        hwloc_bitmap_free(p->masks[i]);
    free(p->masks);
    free(p->tasks);
    free(p->gpus);
    hwloc_bitmap_free(p->allowed_cpus);
    hwloc_bitmap_free(p->allowed_numas);
    memset(p, 0, sizeof(*p));
}

/* Sets `cpus` to those of the step or, if they are unknown, of the node. */
static int step_or_node(const struct step_run *c, hwloc_bitmap_t cpus)
{
    if (!step_cpus(&c->facts->step, &c->facts->node, cpus))
        return 0;
    return hwloc_bitmap_copy(cpus, c->facts->node.allowed_cpus) < 0 ? -ENOMEM : 0;
}

/* A topology file describes another machine: computes how Slurm would bind the tasks there. */
static int emulate_masks(const struct step_run *c, struct placement *p, struct nuioa_error *err)
{
    step_or_node(c, p->allowed_cpus);
    int rc = nuioa_default_binding(&c->facts->node, p->allowed_cpus, p->count,
                                   c->facts->step.asked.cpus_per_task, p->masks, err);
    if (rc != -ENOSPC)
        return rc;
    for (uint32_t i = 0; i < p->count; i++) /* overcommitted: Slurm binds no task then */
        hwloc_bitmap_copy(p->masks[i], p->allowed_cpus);
    return 0;
}

/* The CPUs of a task that has ended do not matter: it may have had all of the step's. */
static int read_masks(const struct step_run *c, bool may_be_gone, struct placement *p,
                      struct nuioa_error *err)
{
    for (uint32_t i = 0; i < p->count; i++) {
        int rc = nuioa_bind_read(c->forked.pids[i], p->masks[i]);
        if (rc == -ESRCH && may_be_gone)
            rc = step_or_node(c, p->masks[i]);
        if (rc < 0)
            return nuioa_fail(err, rc, "cannot read where rank %u may run: %s",
                              c->facts->step.ranks[i], strerror(-rc));
    }
    return 0;
}

/* The CPUs of the step are those of its cores, within its cpuset. If a task may run outside these
 * cores, then Slurm bound nobody, or their numbers mean something else on this machine; then the
 * CPUs of all tasks are taken, and unless a cpuset says so they need not be the step's alone: then
 * it returns true. */
static bool read_allowed(const struct step_run *c, struct placement *p)
{
    hwloc_bitmap_t seen = hwloc_bitmap_alloc();
    if (!seen)
        return true;
    for (uint32_t i = 0; i < p->count; i++)
        hwloc_bitmap_or(seen, seen, p->masks[i]);
    bool unconfined = step_cpus(&c->facts->step, &c->facts->node, p->allowed_cpus) < 0 ||
                      !hwloc_bitmap_isincluded(seen, p->allowed_cpus);
    if (unconfined)
        hwloc_bitmap_copy(p->allowed_cpus, seen);
    if (!cgroup_cpus(c->forked.pids[0], seen)) {
        hwloc_bitmap_and(p->allowed_cpus, p->allowed_cpus, seen);
        unconfined = unconfined && hwloc_bitmap_isincluded(c->facts->node.allowed_cpus, seen);
    }
    hwloc_bitmap_zero(seen);
    if (!cgroup_numas(c->forked.pids[0], seen))
        p->allowed_numas = seen;
    else
        hwloc_bitmap_free(seen);
    return unconfined;
}

/* An inherited binding is no choice if it gives each task all CPUs of the step, as that of an
 * interactive shell does. */
static bool is_bound_by_user(const struct step_run *c, const struct placement *p)
{
    if (!c->facts->step.asked.bound_by_outer || c->facts->node.emulated)
        return c->facts->step.asked.bound_by_user;
    for (uint32_t i = 0; i < p->count; i++)
        if (!hwloc_bitmap_isequal(p->masks[i], p->allowed_cpus))
            return true;
    return false;
}

/* The same for memory, if each task may use that of all NUMA nodes where the step has CPUs. */
static bool is_memory_by_rank(const struct step_run *c, const struct placement *p)
{
    hwloc_bitmap_t numas = c->facts->step.memory_numas ? hwloc_bitmap_alloc() : NULL;
    if (!numas)
        return c->facts->step.asked.memory_by_rank;
    nuioa_node_numas_of(&c->facts->node, p->allowed_cpus, numas);
    bool all = hwloc_bitmap_last(numas) < 64 &&
               !(hwloc_bitmap_to_ulong(numas) & ~c->facts->step.memory_numas);
    hwloc_bitmap_free(numas);
    return !all;
}

static void fill_request(const struct step_run *c, enum nuioa_reason stay, uint64_t cpu_until_us,
                         struct placement *p)
{
    bool unconfined = !c->facts->node.emulated && read_allowed(c, p);
    bool by_rank = is_memory_by_rank(c, p);
    for (uint32_t i = 0; i < p->count; i++)
        p->tasks[i] = (struct nuioa_task){
            .rank = c->facts->step.ranks[i],
            .weight = c->profile.weights
                          ? c->profile.weights[i]
                          : nuioa_hints_weight(&c->facts->hints, c->facts->step.ranks[i]),
            .cpus = p->masks[i],
        };
    task_gpus_list(c, p->tasks, p->gpus);
    struct nuioa_request *r = &p->request;
    *r = c->facts->step.asked;
    r->node = &c->facts->node;
    r->options = &c->facts->options;
    r->task_count = p->count;
    r->tasks = p->tasks;
    r->pair_count = c->profile.pair_count;
    r->pairs = c->profile.pairs;
    r->allowed_cpus = p->allowed_cpus;
    r->allowed_numas = p->allowed_numas;
    r->hinted = c->profile.weights || c->facts->hints.count > 0;
    r->bound_by_user = is_bound_by_user(c, p);
    if (r->memory_by_rank)
        r->memory_by_user = r->memory_by_rank = by_rank;
    r->unconfined = unconfined;
    r->planned = c->facts->node.emulated;
    r->stay = stay;
    r->cpu_until_us = cpu_until_us;
}

int placement_make(struct step_run *c, enum nuioa_reason stay, uint64_t cpu_until_us,
                   struct placement *p, struct nuioa_error *err)
{
    int rc = allocate(p, c->facts->step.task_count, c->facts->node.gpu_count, err);
    if (!rc)
        rc = c->facts->node.emulated ? emulate_masks(c, p, err) : read_masks(c, stay, p, err);
    if (rc < 0)
        return rc;
    fill_request(c, stay, cpu_until_us, p);
    return nuioa_plan_make(&p->request, &p->plan, err);
}

static int bind_one(const struct step_run *c, uint32_t local, hwloc_const_bitmap_t cpus,
                    struct nuioa_error *err)
{
    char list[128];
    hwloc_bitmap_t got = hwloc_bitmap_alloc();
    if (!got)
        return no_memory(err);
    int rc = nuioa_bind_cpus(c->forked.pids[local], cpus);
    if (!rc)
        rc = nuioa_bind_read(c->forked.pids[local], got);
    hwloc_bitmap_list_snprintf(list, sizeof(list), cpus);
    if (rc < 0)
        nuioa_fail(err, rc, "cannot bind rank %u to CPUs %s (%s): ranks stay where Slurm put them",
                   c->facts->step.ranks[local], list, strerror(-rc));
    else if (!hwloc_bitmap_isequal(got, cpus))
        rc = nuioa_fail(err, -EINVAL,
                        "rank %u may not use all of CPUs %s: ranks stay where Slurm put them",
                        c->facts->step.ranks[local], list);
    hwloc_bitmap_free(got);
    return rc;
}

static void undo(const struct step_run *c, struct placement *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->plan.assignments[i].moved)
            nuioa_bind_cpus(c->forked.pids[i], p->masks[i]);
    nuioa_plan_undo(&p->request, &p->plan);
}

int placement_bind(const struct step_run *c, struct placement *p, struct nuioa_error *err)
{
    int rc = 0;
    if (p->plan.planned)
        return 0;
    for (uint32_t i = 0; i < p->count && !rc; i++)
        if (p->plan.assignments[i].moved)
            rc = bind_one(c, i, p->plan.assignments[i].cpus, err);
    if (rc < 0)
        undo(c, p);
    return rc;
}
