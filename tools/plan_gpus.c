/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/plan_gpus.h"

#include <stdlib.h>
#include <string.h>

#include "plan/gpu_rank.h"
#include "tools/tool.h"
#include "topology/gpu_visible.h"

/* Reads the GPUs of one task, such as "2,3"; "" means none. Appends them to input->gpu_list, which
 * has *count so far. `gpus` is for its own use. */
static int read_gpus(struct plan_input *input, const struct nuioa_node *node, uint32_t local,
                     const char *item, hwloc_bitmap_t gpus, size_t *count)
{
    hwloc_bitmap_zero(gpus);
    if (*item && plan_cpu_list(item, gpus))
        return tool_usage(input->command, "--gpus: '%.40s' is not a list of GPUs such as 0,2-3",
                          item);
    int last = hwloc_bitmap_last(gpus);
    if (last >= 0 && !node->gpu_count)
        return tool_fail("--gpus: no GPU of the node is known");
    if (last >= (int)node->gpu_count)
        return tool_fail("--gpus: there is no GPU %d: the node has GPUs 0 to %u (see nuioa topo)",
                         last, node->gpu_count - 1);
    for (int gpu = -1; (gpu = hwloc_bitmap_next(gpus, gpu)) >= 0;) {
        input->gpu_list[(*count)++] = (uint32_t)gpu;
        input->tasks[local].gpu_count++;
    }
    return 0;
}

static int read_gpu_list(struct plan_input *input, const struct nuioa_node *node)
{
    size_t count = 0, bytes = strlen(input->gpus) + 1;
    char *rest = nuioa_arena_take(&input->arena, bytes, 1);
    hwloc_bitmap_t gpus = nuioa_arena_bitmap(&input->arena, NULL);
    int rc = 0;
    if (!gpus)
        return tool_fail("out of memory");
    memcpy(rest, input->gpus, bytes);
    for (uint32_t i = 0; !rc && i < input->task_count; i++) {
        const char *item = strsep(&rest, ";");
        input->tasks[i].gpus = input->gpu_list + count;
        rc = read_gpus(input, node, i, item ? item : "", gpus, &count);
    }
    return rc;
}

/* Gives a task one of the GPUs that it sees, by the rule of its local rank; if the order of their
 * numbers is unknown, the task still sees them, and has some of them. */
static void take_by_rank(const struct plan_input *input, const struct nuioa_node *node,
                         enum nuioa_gpu_mode mode, uint32_t local, struct nuioa_arena *arena)
{
    struct nuioa_task *task = &input->tasks[local];
    struct nuioa_gpu_device *unknown = nuioa_arena_take(arena, node->gpu_count, sizeof(*unknown));
    uint32_t *order = nuioa_arena_take(arena, node->gpu_count, sizeof(*order)), count = 0;
    hwloc_bitmap_t seen = nuioa_arena_bitmap(arena, NULL);
    char *none[] = { NULL };
    for (uint32_t g = 0; seen && g < task->gpu_count; g++)
        arena->failed = arena->failed || hwloc_bitmap_set(seen, task->gpus[g]);
    if (!arena->failed)
        count = nuioa_gpus_in_order(node, unknown, none, seen, order);
    if (count) {
        uint32_t *taken = input->gpu_list + (task->gpus - input->gpu_list);
        *taken = order[nuioa_gpu_rank_place(mode, count, local, input->task_count)];
        task->gpu_count = 1;
    } else {
        task->seen = task->gpus;
        task->seen_count = task->gpu_count;
        task->gpu_count = 0;
        task->gpus_known = false;
        task->gpus_shared = true;
    }
    nuioa_arena_free(arena);
}

/* Returns true if a task sees several GPUs, one of which another task sees, too. `times` is how
 * many tasks see each GPU. */
static bool is_shared(const struct nuioa_task *task, const uint32_t *times)
{
    bool shared = false;
    for (uint32_t g = 0; task->gpu_count > 1 && g < task->gpu_count; g++)
        shared = shared || times[task->gpus[g]] > 1;
    return shared;
}

/* With gpus=local-rank the list says which GPUs each task sees. */
static int divide_gpus(struct plan_input *input, const struct nuioa_node *node,
                       enum nuioa_gpu_mode mode)
{
    uint32_t *times = nuioa_arena_take(&input->arena, node->gpu_count, sizeof(*times));
    struct nuioa_arena each = { .failed = !times };
    for (uint32_t i = 0; times && i < input->task_count; i++)
        for (uint32_t g = 0; g < input->tasks[i].gpu_count; g++)
            times[input->tasks[i].gpus[g]]++;
    for (uint32_t i = 0; times && i < input->task_count; i++)
        if (is_shared(&input->tasks[i], times))
            take_by_rank(input, node, mode, i, &each);
    return each.failed ? tool_fail("out of memory") : 0;
}

/* Without a list, and with gpus=local-rank, each task sees all GPUs. */
static void see_all(struct plan_input *input, const struct nuioa_node *node)
{
    uint32_t *next = input->gpu_list;
    for (uint32_t i = 0; i < input->task_count; i++) {
        input->tasks[i].gpus = next;
        input->tasks[i].gpu_count = node->gpu_count;
        for (uint32_t g = 0; g < node->gpu_count; g++)
            *next++ = g;
    }
}

static int find(struct plan_input *input, const struct nuioa_node *node, enum nuioa_gpu_mode mode)
{
    bool rule = nuioa_gpu_rank_is_rule(mode);
    if (!input->gpus && !rule)
        return 0;
    input->gpu_list = nuioa_arena_take(&input->arena, (size_t)input->task_count * node->gpu_count,
                                       sizeof(*input->gpu_list));
    if (!input->gpu_list)
        return tool_fail("out of memory");
    int rc = input->gpus ? read_gpu_list(input, node) : 0;
    if (!input->gpus)
        see_all(input, node);
    return rc || !rule ? rc : divide_gpus(input, node, mode);
}

int plan_gpus_find(struct plan_input *input, const struct nuioa_node *node,
                   const struct nuioa_options *options, struct nuioa_request *request)
{
    int rc = find(input, node, options->gpus);
    for (uint32_t i = 0; i < input->task_count; i++)
        request->sees_gpu =
            request->sees_gpu || input->tasks[i].gpu_count || input->tasks[i].seen_count;
    return rc;
}
