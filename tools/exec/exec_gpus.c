/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/exec_gpus.h"

#include <string.h>
#include <unistd.h>

#include "topology/gpu_visible.h"
#include "util/variable.h"

/* Another machine is not asked what may be opened there: all of it. */
static bool find_openable(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                          hwloc_bitmap_t openable)
{
    if (!node->emulated)
        return nuioa_gpus_openable(node, devices, openable);
    return !node->gpu_count || !hwloc_bitmap_set_range(openable, 0, (int)node->gpu_count - 1);
}

/* Returns true if Slurm may have given the same GPUs to several tasks, but not all of the step's.
 */
static bool slurm_may_share(void)
{
    static const char *const names[] = { "SLURM_TRES_BIND", "SLURMD_TRES_BIND" };
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *bind = nuioa_variable(environ, names[i]);
        if (bind && (strstr(bind, "closest") || strstr(bind, "mask_gpu")))
            return true;
    }
    return false;
}

/* Returns true if this process has the GPUs that it sees: it sees only one, or no other process of
 * the job is on the node; or somebody has given it a part of those that Slurm lists for the step.
 * Without a list others may see the same ones. With a rule all processes of another launcher see
 * the part that Slurm gave to the task in which the launcher runs. */
static bool has_what_it_sees(const struct exec_gpus *gpus, const struct launcher_place *place)
{
    if (gpus->seen_count <= 1 || place->count <= 1)
        return true;
    if (gpus->rule != NUIOA_GPU_AUTO && !launcher_is_slurm(place))
        return false;
    return gpus->seen_count < nuioa_gpus_of_step(environ) && !slurm_may_share();
}

/* Returns true if Slurm gave the step the GPUs that this process sees, and so the other processes
 * may see them, too. Without Slurm's list nobody knows. */
static bool sees_the_step(const struct exec_gpus *gpus)
{
    uint32_t count = nuioa_gpus_of_step(environ);
    return gpus->sees && count && gpus->seen_count >= count;
}

/* Sets the rule: what was requested, or else what the launcher says. */
static void find_rule(struct exec_gpus *gpus, const struct nuioa_options *options,
                      const struct launcher_place *place)
{
    gpus->rule = nuioa_gpu_rank_is_rule(options->gpus) ? options->gpus : NUIOA_GPU_AUTO;
    gpus->implied =
        options->gpus == NUIOA_GPU_AUTO && place->launcher && place->launcher->gpu_by_rank;
    if (gpus->implied)
        gpus->rule = NUIOA_GPU_LOCAL_RANK;
}

/* Sets what this process sees, which is NULL if it is not known. */
static void find_seen(struct exec_gpus *gpus, const struct nuioa_node *node,
                      const struct nuioa_gpu_device *devices, hwloc_const_bitmap_t openable)
{
    hwloc_bitmap_t seen = nuioa_arena_bitmap(&gpus->arena, NULL);
    if (seen)
        gpus->sees = nuioa_gpus_visible(node, devices, environ, openable, seen);
    if (gpus->sees || (seen && openable && hwloc_bitmap_copy(seen, openable) >= 0))
        gpus->seen = nuioa_arena_take(&gpus->arena, node->gpu_count, sizeof(*gpus->seen));
    for (uint32_t i = 0; gpus->seen && i < node->gpu_count; i++)
        if (hwloc_bitmap_isset(seen, i))
            gpus->seen[gpus->seen_count++] = i;
}

static void find_order(struct exec_gpus *gpus, const struct nuioa_node *node,
                       const struct nuioa_gpu_device *devices, hwloc_const_bitmap_t openable)
{
    gpus->order = nuioa_arena_take(&gpus->arena, node->gpu_count, sizeof(*gpus->order));
    if (gpus->order)
        gpus->order_count = nuioa_gpus_in_order(node, devices, environ, openable, gpus->order);
}

void exec_gpus_find(struct exec_gpus *gpus, const struct nuioa_node *node,
                    const struct nuioa_options *options, const struct launcher_place *place)
{
    *gpus = (struct exec_gpus){ .given = nuioa_gpus_given(environ) };
    struct nuioa_gpu_device *devices =
        nuioa_arena_take(&gpus->arena, node->gpu_count, sizeof(*devices));
    hwloc_bitmap_t openable = nuioa_arena_bitmap(&gpus->arena, NULL);
    find_rule(gpus, options, place);
    if (!openable)
        return;
    nuioa_gpu_devices_read(node, "", devices);
    bool counted = find_openable(node, devices, openable);
    find_seen(gpus, node, devices, counted ? openable : NULL);
    gpus->has = gpus->seen && gpus->sees && has_what_it_sees(gpus, place);
    if (gpus->rule != NUIOA_GPU_AUTO && !gpus->has && place->count > 1)
        find_order(gpus, node, devices, counted ? openable : NULL);
}

void exec_gpus_fill(const struct exec_gpus *gpus, const struct nuioa_node *node,
                    const struct launcher_place *place, bool equal, struct nuioa_task *tasks)
{
    bool none = !node->gpu_count || gpus->given == NUIOA_GPUS_NONE;
    bool ruled = !none && gpus->order_count, use = !none && gpus->seen && !equal;
    for (uint32_t i = 0; i < place->count; i++) {
        struct nuioa_task *task = &tasks[i];
        task->gpus_known = none || ruled;
        if (ruled) {
            task->gpus =
                &gpus->order[nuioa_gpu_rank_place(gpus->rule, gpus->order_count, i, place->count)];
            task->gpu_count = 1;
            continue;
        }
        task->seen = use && !gpus->has ? gpus->seen : NULL;
        task->seen_count = task->seen ? gpus->seen_count : 0;
        task->gpus_shared = task->seen && sees_the_step(gpus);
    }
    if (ruled || !use || !gpus->has)
        return;
    tasks[place->local].gpus = gpus->seen;
    tasks[place->local].gpu_count = gpus->seen_count;
    tasks[place->local].gpus_known = true;
}
