/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan_costs.h"
#include "plan/plan_decide.h"
#include "plan/plan_derive.h"
#include "plan/planner.h"
#include "topology/nic_subnet.h"
#include "util/clock.h"

static int plan_alloc(struct nuioa_plan *plan, const struct nuioa_request *r)
{
    *plan = (struct nuioa_plan){
        .planned = r->planned,
        .policy = r->options->policy,
        .hinted = r->hinted,
        .task_count = r->task_count,
    };
    plan->assignments = calloc(r->task_count, sizeof(*plan->assignments));
    plan->order = calloc(r->task_count, sizeof(*plan->order));
    plan->rails = calloc(r->task_count, sizeof(*plan->rails));
    if (!plan->assignments || !plan->order || !plan->rails)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        assignment->cpus = hwloc_bitmap_dup(r->tasks[i].cpus);
        assignment->was = hwloc_bitmap_dup(r->tasks[i].cpus);
        assignment->numas = hwloc_bitmap_alloc();
        assignment->memory_numas = hwloc_bitmap_alloc();
        if (!assignment->cpus || !assignment->was || !assignment->numas ||
            !assignment->memory_numas)
            return -ENOMEM;
    }
    return 0;
}

static int check(const struct nuioa_request *r, struct nuioa_error *err)
{
    if (!r->task_count)
        return nuioa_fail(err, -EINVAL, "no tasks to place");
    for (uint32_t i = 0; i < r->task_count; i++)
        if (hwloc_bitmap_iszero(r->tasks[i].cpus) || hwloc_bitmap_last(r->tasks[i].cpus) < 0)
            return nuioa_fail(err, -EINVAL, "rank %u has no CPUs", r->tasks[i].rank);
    for (uint32_t i = 0; i < r->task_count; i++)
        for (uint32_t k = 0; k < r->tasks[i].gpu_count; k++)
            if (r->tasks[i].gpus[k] >= r->node->gpu_count)
                return nuioa_fail(err, -EINVAL, "rank %u has a GPU that the node lacks",
                                  r->tasks[i].rank);
    for (uint32_t i = 0; i < r->task_count; i++)
        for (uint32_t k = 0; k < r->tasks[i].seen_count; k++)
            if (r->tasks[i].seen[k] >= r->node->gpu_count)
                return nuioa_fail(err, -EINVAL, "rank %u sees a GPU that the node lacks",
                                  r->tasks[i].rank);
    for (uint32_t k = 0; k < r->pair_count; k++)
        if (r->pairs[k].first >= r->pairs[k].second || r->pairs[k].second >= r->task_count)
            return nuioa_fail(err, -EINVAL, "pair %u is not of two local ranks", k);
    return 0;
}

static void add_notes(struct nuioa_plan *plan)
{
    size_t used = strlen(plan->reason);
    if (plan->nics_shifted)
        used += (size_t)snprintf(plan->reason + used, sizeof(plan->reason) - used,
                                 "; other steps' load changed the NICs of %u", plan->nics_shifted);
    if (plan->gpus_left && used < sizeof(plan->reason))
        snprintf(plan->reason + used, sizeof(plan->reason) - used,
                 "; %u may be farther from their GPUs, which the cost does not count",
                 plan->gpus_left);
}

/* Says in the plan which NICs ranks may use. */
static int list_nics(const struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    plan->nics = malloc((p->rails.count + 1) * sizeof(*plan->nics));
    if (!plan->nics)
        return -ENOMEM;
    plan->nic_count = p->rails.count;
    /* -Wanalyzer-malloc-leak: nuioa_plan_free frees them. */
    if (p->rails.count)
        memcpy(plan->nics, p->rails.nic, p->rails.count * sizeof(*plan->nics));
    plan->connected = p->request->options->rails_connected ||
                      nuioa_nics_are_connected(p->request->node, plan->nics, plan->nic_count);
    return 0;
}

int nuioa_plan_make(const struct nuioa_request *request, struct nuioa_plan *plan,
                    struct nuioa_error *err)
{
    struct planner planner;
    int64_t start_us = nuioa_clock_us();
    *plan = (struct nuioa_plan){ 0 };
    int rc = check(request, err);
    if (rc < 0)
        return rc;
    if (plan_alloc(plan, request) < 0) {
        nuioa_plan_free(plan);
        return nuioa_fail(err, -ENOMEM, "out of memory");
    }
    rc = nuioa_planner_init(&planner, request, plan, err);
    if (rc == 0) {
        rc = list_nics(&planner);
        if (rc == 0)
            rc = nuioa_plan_decide(&planner);
        if (rc == 0)
            rc = nuioa_plan_derive(&planner);
        if (rc == 0)
            rc = nuioa_plan_costs(&planner);
        if (rc == 0 && request->cpu_until_us && nuioa_cpu_us() > request->cpu_until_us)
            rc = -ETIME;
        if (rc == -ETIME)
            nuioa_fail(err, rc,
                       "a plan takes more processor time than deadline_ms allows: ranks stay where "
                       "Slurm put them");
        else if (rc < 0)
            nuioa_fail(err, rc, "the placement failed: %s", strerror(-rc));
        else
            add_notes(plan);
    }
    nuioa_planner_free(&planner);
    if (rc < 0)
        nuioa_plan_free(plan);
    plan->time_us = (uint32_t)(nuioa_clock_us() - start_us);
    return rc;
}

int nuioa_plan_achieved(const struct nuioa_request *request, struct nuioa_plan *plan,
                        uint32_t local, hwloc_const_bitmap_t cpus)
{
    struct planner planner;
    if (local >= plan->task_count)
        return -EINVAL;
    if (hwloc_bitmap_isequal(plan->assignments[local].cpus, cpus))
        return 0;
    int rc = nuioa_planner_init(&planner, request, plan, NULL);
    if (rc == 0 && hwloc_bitmap_copy(plan->assignments[local].cpus, cpus) < 0)
        rc = -ENOMEM;
    if (rc == 0)
        rc = nuioa_plan_derive(&planner);
    if (rc == 0)
        rc = nuioa_plan_costs(&planner);
    nuioa_planner_free(&planner);
    return rc;
}

void nuioa_plan_free(struct nuioa_plan *plan)
{
    for (uint32_t i = 0; plan->assignments && i < plan->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        hwloc_bitmap_free(assignment->cpus);
        hwloc_bitmap_free(assignment->was);
        hwloc_bitmap_free(assignment->numas);
        hwloc_bitmap_free(assignment->memory_numas);
        free(assignment->nics);
        free(assignment->gpus);
        free(assignment->near);
        nuioa_assignment_drop_places(assignment);
    }
    free(plan->assignments);
    free(plan->order);
    free(plan->rails);
    free(plan->nics);
    *plan = (struct nuioa_plan){ 0 };
}

int nuioa_block_binding(const struct nuioa_node *node, hwloc_const_bitmap_t allowed,
                        uint32_t task_count, uint32_t cpus_per_task, hwloc_bitmap_t *cpus,
                        struct nuioa_error *err)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < task_count; i++) {
        uint32_t have = 0;
        hwloc_bitmap_zero(cpus[i]);
        while (have < cpus_per_task && at < node->pu_count) {
            uint32_t core = node->pus[at].core;
            for (; at < node->pu_count && node->pus[at].core == core; at++)
                if (hwloc_bitmap_isset(allowed, node->pus[at].os_index)) {
                    hwloc_bitmap_set(cpus[i], node->pus[at].os_index);
                    have++;
                }
        }
        if (have < cpus_per_task)
            return nuioa_fail(err, -ENOSPC,
                              "%u tasks of %u CPUs do not fit into the %d allowed CPUs (whole "
                              "cores)",
                              task_count, cpus_per_task, hwloc_bitmap_weight(allowed));
    }
    return 0;
}

/* Returns true if all CPUs are equally near every NIC: there is one NUMA node, and all NICs have
 * the same level or all have none. */
static bool is_uniform(const struct nuioa_node *node)
{
    if (node->numa_count != 1)
        return false;
    for (uint32_t i = 1; i < node->nic_count; i++) {
        const uint8_t *first = node->nics[0].level, *level = node->nics[i].level;
        if (!level != !first || (level && *level != *first))
            return false;
    }
    return true;
}

uint32_t nuioa_plan_sure_leader(const struct nuioa_node *node, const struct nuioa_options *options,
                                uint32_t task_count, bool weighted)
{
    if (options->leader == NUIOA_LEADER_OFF || !task_count)
        return UINT32_MAX;
    bool sure =
        options->leader == NUIOA_LEADER_RANK0 || task_count == 1 || (!weighted && is_uniform(node));
    return sure ? 0 : UINT32_MAX;
}
