/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/plan_gpus.h"

#include <stdlib.h>
#include <string.h>

#include "plan/gpu_rank.h"
#include "tools/tool.h"
#include "topology/gpu_visible.h"

/* Reads the GPUs of one task, such as "2,3"; "" means none. Appends them to input->gpu_list, which
 * has *count so far. */
static int read_gpus(struct plan_input *input, const struct nuioa_node *node, uint32_t local,
                     const char *item, size_t *count)
{
    hwloc_bitmap_t gpus = hwloc_bitmap_alloc();
    int rc = 0, last;
    if (!gpus)
        return tool_fail("out of memory");
    if (*item && plan_cpu_list(item, gpus))
        rc =
            tool_usage(input->command, "--gpus: '%.40s' is not a list of GPUs such as 0,2-3", item);
    last = hwloc_bitmap_last(gpus);
    if (!rc && last >= (int)node->gpu_count)
        rc = node->gpu_count
                 ? tool_fail(
                       "--gpus: there is no GPU %d: the node has GPUs 0 to %u (see nuioa topo)",
                       last, node->gpu_count - 1)
                 : tool_fail("--gpus: no GPU of the node is known");
    for (int gpu = -1; !rc && (gpu = hwloc_bitmap_next(gpus, gpu)) >= 0;) {
        input->gpu_list[(*count)++] = (uint32_t)gpu;
        input->tasks[local].gpu_count++;
    }
    hwloc_bitmap_free(gpus);
    return rc;
}

static int read_gpu_list(struct plan_input *input, const struct nuioa_node *node)
{
    size_t count = 0;
    char *copy = strdup(input->gpus), *rest = copy;
    int rc = copy ? 0 : tool_fail("out of memory");
    for (uint32_t i = 0; !rc && i < input->task_count; i++) {
        const char *item = strsep(&rest, ";");
        input->tasks[i].gpus = input->gpu_list + count;
        rc = read_gpus(input, node, i, item ? item : "", &count);
    }
    free(copy);
    return rc;
    /* -Wanalyzer-malloc-leak: the rest is a part of the copy. */
}

/* Gives a task one of the GPUs that it sees, by the rule of its local rank; if the order of their
 * numbers is unknown, the task still sees them, and has some of them. Returns 0 or an exit
 * status. */
static int take_by_rank(const struct plan_input *input, const struct nuioa_node *node,
                        enum nuioa_gpu_mode mode, uint32_t local)
{
    struct nuioa_task *task = &input->tasks[local];
    struct nuioa_gpu_device *unknown = calloc(node->gpu_count + 1, sizeof(*unknown));
    uint32_t *order = calloc(node->gpu_count + 1, sizeof(*order)), count = 0;
    char *none[] = { NULL };
    hwloc_bitmap_t seen = hwloc_bitmap_alloc();
    bool ready = unknown && order && seen;
    for (uint32_t g = 0; ready && g < task->gpu_count; g++)
        ready = !hwloc_bitmap_set(seen, task->gpus[g]);
    if (ready)
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
    hwloc_bitmap_free(seen);
    free(order);
    free(unknown);
    return ready ? 0 : tool_fail("out of memory");
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
    int rc = 0;
    uint32_t *times = calloc(node->gpu_count + 1, sizeof(*times));
    if (!times)
        return tool_fail("out of memory");
    for (uint32_t i = 0; i < input->task_count; i++)
        for (uint32_t g = 0; g < input->tasks[i].gpu_count; g++)
            times[input->tasks[i].gpus[g]]++;
    for (uint32_t i = 0; !rc && i < input->task_count; i++)
        if (is_shared(&input->tasks[i], times))
            rc = take_by_rank(input, node, mode, i);
    free(times);
    return rc;
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
    input->gpu_list = calloc((size_t)input->task_count * node->gpu_count + 1, sizeof(uint32_t));
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
