/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/exec_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option/option_environment.h"
#include "tools/tool.h"
#include "topology/cache.h"
#include "topology/nic_role.h"
#include "topology/nic_subnet.h"
#include "util/variable.h"

/* --- the process ------------------------------------------------------------------------------ */

bool exec_input_is_told(void)
{
    const char *told = nuioa_variable(environ, NUIOA_VARIABLE_STEP);
    const char *id = nuioa_variable(environ, "SLURM_JOB_ID");
    const char *step = nuioa_variable(environ, "SLURM_STEP_ID");
    char here[64];
    if (!told || !id || !step)
        return false;
    snprintf(here, sizeof(here), "%.31s.%.31s", id, step);
    return !strcmp(told, here);
}

/* Returns true if the plugin has placed this process: it said so for this job and step, and the
 * process is still where it said. */
static bool is_placed(const struct exec_input *in)
{
    const char *cpus = nuioa_variable(environ, "NUIOA_CPUS");
    char *own = NULL;
    if (!cpus || !launcher_is_slurm(&in->place) || !exec_input_is_told())
        return false;
    bool placed = hwloc_bitmap_list_asprintf(&own, in->cpus.own) >= 0 && !strcmp(own, cpus);
    free(own);
    return placed;
}

/* As for srun, the number counts only if somebody requested it. */
static void read_cpus_per_task(struct exec_input *in)
{
    if (!in->cpus_per_task && launcher_is_slurm(&in->place))
        in->cpus_per_task = nuioa_variable_number(environ, "SLURM_CPUS_PER_TASK", UINT16_MAX, 0);
}

int exec_input_read_process(struct exec_input *in, const struct launcher_request *request,
                            struct nuioa_error *err)
{
    int rc = launcher_find(request, environ, &in->place, err);
    if (!rc && !*in->options.topology)
        rc = exec_cpus_read(&in->cpus, err);
    if (rc)
        return rc;
    in->placed = is_placed(in);
    read_cpus_per_task(in);
    return 0;
}

/* --- the node --------------------------------------------------------------------------------- */

/* Forgets the state of the ports: a port that goes down while processes start must not give them
 * different plans. */
static void forget_ports(struct nuioa_node *node)
{
    for (uint32_t i = 0; i < node->nic_count; i++) {
        node->nics[i].state = NUIOA_NIC_UNKNOWN;
        node->nics[i].rate_mbps = 0;
    }
}

/* The default cache may be missing or not be for this process: then nothing is said. hwloc runs in
 * a child process with a deadline, because it can hang on broken firmware. */
static int load_own(struct exec_input *in, const struct nuioa_source *source,
                    struct nuioa_error *err)
{
    const struct nuioa_options *o = &in->options;
    char path[NUIOA_CACHE_PATH_SIZE];
    nuioa_cache_path(path);
    int rc = nuioa_cache_read(*o->cache ? o->cache : path, source->distances, &in->node, err);
    if (rc && *o->cache)
        nuioa_warn(&in->warnings, "cache not used: %s", err->text);
    if (rc)
        rc = nuioa_cache_discover(source, o->deadline_ms, &in->node, err);
    if (!rc)
        forget_ports(&in->node);
    return rc;
}

static int load_node(struct exec_input *in)
{
    const struct nuioa_options *o = &in->options;
    const struct nuioa_source source = { *o->topology ? o->topology : NULL,
                                         *o->distances ? o->distances : NULL };
    struct nuioa_error err = { "" };
    if (source.topology ? nuioa_node_load(&in->node, &source, &err) : load_own(in, &source, &err))
        return tool_fail("%s", err.text);
    nuioa_nic_roles_set(&in->node, o->nic_role);
    return 0;
}

/* --- CPUs ------------------------------------------------------------------------------------- */

/* Returns true if the memory policy of this process is for only some of the NUMA nodes where it may
 * run: on CPUs of another one all its memory would be remote. */
static bool is_placed_by_memory(const struct exec_input *in)
{
    hwloc_const_bitmap_t policy = in->cpus.policy_numas;
    hwloc_bitmap_t numas = policy && !hwloc_bitmap_iszero(policy) ? hwloc_bitmap_alloc() : NULL;
    if (!numas)
        return false;
    nuioa_node_numas_of(&in->node, in->cpus.all, numas);
    bool placed = !hwloc_bitmap_isincluded(numas, policy);
    hwloc_bitmap_free(numas);
    return placed;
}

/* Returns why this process keeps its CPUs, or NUIOA_REASON_NONE if they may be chosen. */
static enum nuioa_reason must_stay(const struct exec_input *in)
{
    if (in->placed)
        return NUIOA_REASON_EXEC_PLACED;
    if (in->options.force)
        return NUIOA_REASON_NONE;
    if (!hwloc_bitmap_isequal(in->cpus.own, in->cpus.all))
        return NUIOA_REASON_EXEC_BOUND;
    if (is_placed_by_memory(in))
        return NUIOA_REASON_EXEC_MEMORY;
    if (in->place.launcher && in->place.launcher->divides)
        return NUIOA_REASON_EXEC_DIVIDED;
    return in->cpus.has_quota ? NUIOA_REASON_EXEC_QUOTA : NUIOA_REASON_NONE;
}

/* Leaves the CPUs that this process may get: those that hwloc knows. */
static int set_allowed_cpus(struct exec_input *in)
{
    struct nuioa_node *node = &in->node;
    hwloc_bitmap_t known = hwloc_bitmap_alloc();
    if (!known)
        return -ENOMEM;
    for (uint32_t i = 0; i < node->pu_count; i++)
        hwloc_bitmap_set(known, node->pus[i].os_index);
    int rc = hwloc_bitmap_and(node->allowed_cpus, in->stay ? in->cpus.own : in->cpus.all, known);
    hwloc_bitmap_free(known);
    return rc < 0 ? -ENOMEM : 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Without the ranks of the others, hints cannot be used, and no leader can be named; nor without
 * their CPUs. */
static void settle_options(struct exec_input *in)
{
    if (in->stay || !in->place.ranks)
        in->options.leader = NUIOA_LEADER_OFF;
    if (in->place.ranks)
        return;
    if (*in->options.hints)
        nuioa_warn(
            &in->warnings,
            "hints ignored: the ranks on this node are unknown. Use --ranks block for consecutive "
            "ones, or --ranks LIST");
    *in->options.hints = '\0';
}

int exec_input_read_node(struct exec_input *in)
{
    int rc = load_node(in);
    if (rc)
        return rc;
    exec_gpus_find(&in->gpus, &in->node, &in->options, &in->place);
    if (in->options.export_set & (NUIOA_EXPORT_LIBRARIES | NUIOA_EXPORT_AUTO))
        nuioa_nic_subnets_read(&in->node);
    if (!in->node.emulated) {
        in->stay = must_stay(in);
        if (set_allowed_cpus(in) < 0)
            return tool_fail("out of memory");
    }
    settle_options(in);
    return 0;
}

void exec_input_free(struct exec_input *in)
{
    nuioa_node_free(&in->node);
    nuioa_arena_free(&in->gpus.arena);
    launcher_place_free(&in->place);
    nuioa_arena_free(&in->cpus.arena);
}
