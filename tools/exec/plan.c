/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/user_variables.h"
#include "plan/plan_make.h"
#include "nics/rails.h"
#include "tools/tool.h"
#include "topology/cache.h"
#include "topology/nic_role.h"
#include "topology/nic_subnet.h"
#include "util/number.h"
#include "util/variable.h"

/* --- the node --------------------------------------------------------------------------------- */

/* Reads the cache. The default one may be missing or not be for this process: then nothing is
 * said. */
static int read_cache(struct exec_plan *e, const char *distances, struct nuioa_error *err)
{
    char path[NUIOA_CACHE_PATH_SIZE];
    if (*e->options.cache)
        return nuioa_cache_read(e->options.cache, distances, &e->node, err);
    nuioa_cache_path(path);
    return nuioa_cache_read(path, distances, &e->node, err);
}

/* Forgets the state of the ports: a port that goes down while processes start must not give them
 * different plans. */
static void forget_ports(struct nuioa_node *node)
{
    for (uint32_t i = 0; i < node->nic_count; i++) {
        node->nics[i].state = NUIOA_NIC_UNKNOWN;
        node->nics[i].rate_mbps = 0;
    }
}

/* hwloc runs in a child process with a deadline, because it can hang on broken firmware. */
static int load_node(struct exec_plan *e)
{
    const struct nuioa_options *o = &e->options;
    const struct nuioa_source source = { *o->topology ? o->topology : NULL,
                                         *o->distances ? o->distances : NULL };
    struct nuioa_error err = { "" };
    if (source.topology) {
        if (nuioa_node_load(&e->node, &source, &err))
            return tool_fail("%s", err.text);
        nuioa_nic_roles_set(&e->node, o->nic_role);
        return 0;
    }
    int rc = read_cache(e, source.distances, &err);
    if (rc && *o->cache)
        nuioa_warn(&e->warnings, "cache not used: %s", err.text);
    if (rc && nuioa_cache_discover(&source, o->deadline_ms, &e->node, &err))
        return tool_fail("%s", err.text);
    forget_ports(&e->node);
    nuioa_nic_roles_set(&e->node, o->nic_role);
    return 0;
}

/* --- CPUs ------------------------------------------------------------------------------------- */

/* Returns true if the Slurm job has only some CPUs of the node, and no cpuset says which. Slurm may
 * count cores as CPUs. */
static bool is_part_of_node(const struct exec_plan *e)
{
    const char *text = nuioa_variable(environ, "SLURM_CPUS_ON_NODE");
    uint32_t cpus;
    if (!text || nuioa_parse_u32(text, UINT32_MAX, &cpus) ||
        hwloc_bitmap_weight(e->cpus.all) < (int)e->node.pu_count)
        return false;
    return cpus < e->node.pu_count && cpus != e->node.core_count;
}

/* Returns true if the memory policy of this process is for only some of the NUMA nodes where it may
 * run: on CPUs of another one all its memory would be remote. */
static bool is_placed_by_memory(const struct exec_plan *e)
{
    hwloc_const_bitmap_t policy = e->cpus.policy_numas;
    hwloc_bitmap_t numas = policy && !hwloc_bitmap_iszero(policy) ? hwloc_bitmap_alloc() : NULL;
    if (!numas)
        return false;
    nuioa_node_numas_of(&e->node, e->cpus.all, numas);
    bool placed = !hwloc_bitmap_isincluded(numas, policy);
    hwloc_bitmap_free(numas);
    return placed;
}

/* Returns why this process keeps its CPUs, or NUIOA_REASON_NONE if they may be chosen. */
static enum nuioa_reason must_stay(const struct exec_plan *e)
{
    if (e->placed)
        return NUIOA_REASON_EXEC_PLACED;
    if (e->options.force)
        return NUIOA_REASON_NONE;
    if (!hwloc_bitmap_isequal(e->cpus.own, e->cpus.all))
        return NUIOA_REASON_EXEC_BOUND;
    if (is_placed_by_memory(e))
        return NUIOA_REASON_EXEC_MEMORY;
    if (e->place.launcher && e->place.launcher->divides)
        return NUIOA_REASON_EXEC_DIVIDED;
    return e->cpus.has_quota ? NUIOA_REASON_EXEC_QUOTA : NUIOA_REASON_NONE;
}

/* Leaves in `cpus` those that hwloc knows. */
static void keep_known(const struct nuioa_node *node, hwloc_bitmap_t cpus)
{
    hwloc_bitmap_t known = hwloc_bitmap_alloc();
    for (uint32_t i = 0; known && i < node->pu_count; i++)
        hwloc_bitmap_set(known, node->pus[i].os_index);
    if (known)
        hwloc_bitmap_and(cpus, cpus, known);
    hwloc_bitmap_free(known);
}

/* --- the request ------------------------------------------------------------------------------ */

static int fill_input(struct exec_plan *e, bool stays)
{
    struct plan_input *input = &e->input;
    uint32_t count = e->place.count;
    *input = (struct plan_input){
        .command = "exec",
        .task_count = count,
        .cpus_per_task = e->cpus_per_task,
        .ranks = malloc(count * sizeof(*input->ranks)),
        .binding = "none",
        .allowed = hwloc_bitmap_dup(e->node.emulated ? e->node.allowed_cpus
                                    : stays          ? e->cpus.own
                                                     : e->cpus.all),
    };
    if (!input->ranks || !input->allowed)
        return tool_fail("out of memory");
    for (uint32_t i = 0; i < count; i++)
        input->ranks[i] = e->place.ranks ? e->place.ranks[i] : i;
    if (!e->node.emulated) {
        keep_known(&e->node, input->allowed);
        hwloc_bitmap_copy(e->node.allowed_cpus, input->allowed);
    }
    return 0;
}

/* Outside of Slurm all GPUs of the node may be used if no variable names some. Another machine is
 * not meant by variables if it has none. */
static bool sees_gpu(const struct exec_plan *e)
{
    bool slurm = e->place.launcher && !strcmp(e->place.launcher->name, "slurm");
    if (e->node.emulated && !e->node.gpu_count)
        return false;
    return e->gpus.given > NUIOA_GPUS_NONE ||
           (e->gpus.given == NUIOA_GPUS_UNKNOWN && !slurm && e->node.gpu_count);
}

/* Returns why no process moves towards GPUs that nobody but the launcher has told of, or
 * NUIOA_REASON_NONE. */
static enum nuioa_reason must_not_follow(const struct exec_plan *e)
{
    bool implied = e->gpus.implied && exec_gpus_by_rule(&e->gpus) && !e->options.force;
    return implied ? NUIOA_REASON_EXEC_GPUS : NUIOA_REASON_NONE;
}

static int fill_request(struct exec_plan *e, enum nuioa_reason stay, struct nuioa_request *request)
{
    int rc = fill_input(e, stay);
    if (!rc)
        rc = plan_input_request(&e->input, &e->node, &e->options, request, &e->warnings);
    if (rc)
        return rc;
    /* Where ranks may move in spite of GPUs, all processes must make the same plan. */
    exec_gpus_fill(&e->gpus, &e->node, &e->place, e->options.force && !e->stays, e->input.tasks);
    request->allowed_numas = e->node.emulated ? NULL : e->cpus.numas;
    request->threads = nuioa_omp_threads(environ);
    request->threads_by_user = nuioa_threads_are_placed(environ);
    request->memory_by_user = e->cpus.has_memory_policy;
    request->unconfined = !e->options.force && !e->node.emulated && is_part_of_node(e);
    request->overlaps = nuioa_variable(environ, "SLURM_OVERLAP") != NULL;
    request->sees_gpu = sees_gpu(e);
    request->bound_by_user = stay;
    request->stay = stay ? stay : must_not_follow(e);
    return 0;
}

/* Without the ranks of the others, hints cannot be used, and no leader can be named. */
static void forget_ranks(struct exec_plan *e)
{
    if (*e->options.hints)
        nuioa_warn(&e->warnings,
                   "hints: not used: which ranks of the job are on this node is not known (--ranks "
                   "block: consecutive ones; --ranks LIST)");
    *e->options.hints = '\0';
    e->options.leader = NUIOA_LEADER_OFF;
}

/* --- the NIC ---------------------------------------------------------------------------------- */

static bool is_taken(const struct exec_plan *e, uint32_t nic)
{
    struct nuioa_rails rails;
    bool taken = false;
    if (nuioa_rails_init(&rails, &e->node, &e->options, NULL, NULL))
        return false;
    for (unsigned r = 0; r < rails.count; r++)
        taken = taken || rails.nic[r] == nic;
    nuioa_rails_free(&rails);
    return taken;
}

/* Moves the NICs of `from` to `to`. */
static void take_nics(struct nuioa_assignment *to, struct nuioa_assignment *from)
{
    free(to->nics);
    to->nics = from->nics;
    to->nic_count = from->nic_count;
    to->nic = from->nic;
    to->path = from->path;
    to->level = from->level;
    from->nics = NULL;
    from->nic_count = 0;
}

/* Chooses the NIC of this process anew if its own is down, or none that would be chosen: now the
 * state of the ports is read. All tasks are asked for as if they were here, so that they share
 * NICs that are equally near. */
static int check_nic(struct exec_plan *e, const struct nuioa_request *request)
{
    struct nuioa_assignment *own = &e->plan.assignments[e->place.local];
    struct nuioa_request again = *request;
    struct nuioa_plan plan;
    struct nuioa_error err = { "" };
    nuioa_node_refresh(&e->node);
    bool taken = true;
    for (uint32_t k = 0; k < own->nic_count; k++)
        taken = taken && is_taken(e, own->nics[k]);
    if (taken)
        return 0;
    for (uint32_t i = 0; i < e->place.count; i++)
        e->input.tasks[i].cpus = own->cpus;
    again.stay = NUIOA_REASON_EXEC_BOUND;
    if (nuioa_plan_make(&again, &plan, &err))
        return tool_fail("%s", err.text);
    take_nics(own, &plan.assignments[e->place.local]);
    nuioa_plan_free(&plan);
    return 0;
}

/* --- what the user may type ------------------------------------------------------------------- */

/* Outside of Slurm the plan does not know that others see the same GPUs; here it is likely enough
 * for advice. */
static void advise_on_gpus(struct exec_plan *e)
{
    const struct exec_gpus *gpus = &e->gpus;
    const bool shared = exec_plan_lacks_gpus(e) && gpus->seen && !gpus->has;
    if (shared && gpus->rule == NUIOA_GPU_AUTO && gpus->seen_count == e->place.count)
        e->plan.advice |= 1u << NUIOA_ADVICE_GPUS;
    if (shared && gpus->rule != NUIOA_GPU_AUTO)
        e->plan.advice |= 1u << NUIOA_ADVICE_GPUS_ORDER;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void free_made(struct exec_plan *e)
{
    nuioa_plan_free(&e->plan);
    plan_input_free(&e->input);
    nuioa_node_free(&e->node);
    nuioa_warnings_clear(&e->warnings);
    exec_gpus_free(&e->gpus);
}

int exec_plan_make(struct exec_plan *e, enum nuioa_reason stay)
{
    struct nuioa_request request;
    struct nuioa_error err = { "" };
    free_made(e);
    int rc = load_node(e);
    if (rc)
        return rc;
    exec_gpus_find(&e->gpus, &e->node, &e->options, &e->place);
    if (e->options.export_set & NUIOA_EXPORT_FOREIGN)
        nuioa_nic_subnets_read(&e->node);
    if (!stay && !e->node.emulated)
        stay = must_stay(e);
    e->stays = stay;
    if (stay)
        e->options.leader = NUIOA_LEADER_OFF; /* it would need the CPUs of the others */
    if (!e->place.ranks)
        forget_ranks(e);
    rc = fill_request(e, stay, &request);
    if (rc)
        return rc;
    if (nuioa_plan_make(&request, &e->plan, &err))
        return tool_fail("%s", err.text);
    for (unsigned i = 0; i < e->plan.warnings.count; i++)
        nuioa_warn(&e->warnings, "%s", e->plan.warnings.text[i]);
    advise_on_gpus(e);
    e->plan.advice &= ~(1u << NUIOA_ADVICE_MEMORY); /* it names an option of srun with the plugin */
    return check_nic(e, &request);
}

bool exec_plan_lacks_gpus(const struct exec_plan *e)
{
    if (!e->node.gpu_count)
        return e->gpus.given > NUIOA_GPUS_NONE;
    return !e->plan.assignments[e->place.local].gpus_known;
}

bool exec_plan_filters(const struct exec_plan *e)
{
    return !exec_plan_lacks_gpus(e) && !(e->gpus.implied && exec_gpus_by_rule(&e->gpus));
}

void exec_plan_free(struct exec_plan *e)
{
    free_made(e);
    launcher_place_free(&e->place);
    exec_cpus_free(&e->cpus);
}
