/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/plan_input.h"
#include "tools/tool.h"
#include "profile/hints.h"
#include "profile/profile.h"
#include "profile/profile_read.h"
#include "profile/profile_slice.h"
#include "topology/gpu_visible.h"
#include "util/number.h"

#define CPU_MAX 65535
#define LINE_BYTES 65536 /* of a line of --binding, with its end */

/* --- arguments -------------------------------------------------------------------------------- */

/* Reads a list of CPUs in the kernel's form, such as "0,2,4-7". hwloc's own reader is not used: it
 * takes other forms too, and sets without end ("3-"). */
static int read_cpus(const char *text, hwloc_bitmap_t cpus)
{
    char *copy = strdup(text), *rest = copy, *item;
    bool right = copy;
    hwloc_bitmap_zero(cpus);
    while (right && (item = strsep(&rest, ","))) {
        uint32_t first, last;
        const char *from = strsep(&item, "-"), *to = item ? item : from;
        right = !nuioa_parse_u32(from, CPU_MAX, &first) && !nuioa_parse_u32(to, CPU_MAX, &last) &&
                first <= last && !hwloc_bitmap_set_range(cpus, first, (int)last);
    }
    free(copy);
    return right ? 0 : -EINVAL;
}

/* Adds one more line. Returns its empty set of CPUs, or NULL if there are too many. */
static hwloc_bitmap_t add_line(struct plan_input *input)
{
    if (!input->cpus)
        input->cpus = nuioa_arena_take(&input->arena, PLAN_TASKS_MAX, sizeof(*input->cpus));
    if (!input->cpus || input->line_count == PLAN_TASKS_MAX)
        return NULL;
    hwloc_bitmap_t set = nuioa_arena_bitmap(&input->arena, NULL);
    input->cpus[input->line_count++] = set;
    return set;
}

/* Reads one line of the file. Returns 0 or an exit status. */
static int take_line(struct plan_input *input, char *line)
{
    hwloc_bitmap_t cpus = add_line(input);
    size_t length = strcspn(line, "\n");
    if (!cpus)
        return tool_fail("%s: more than %d lines", input->binding, PLAN_TASKS_MAX);
    if (!line[length] && length + 2 > LINE_BYTES)
        return tool_fail("%s:%u: longer than %d bytes; a CPU list such as 0,2,4-7 is expected",
                         input->binding, input->line_count, LINE_BYTES - 2);
    line[length] = '\0';
    if (read_cpus(line, cpus))
        return tool_fail("%s:%u: '%.40s' is not a CPU list such as 0,2,4-7", input->binding,
                         input->line_count, line);
    return 0;
}

/* Reads the file once from the beginning to the end, because it may be a pipe. */
static int read_binding(struct plan_input *input)
{
    FILE *in = fopen(input->binding, "re");
    char line[LINE_BYTES];
    int rc = 0;
    if (!in)
        return tool_fail("%s: %s", input->binding, strerror(errno));
    while (!rc && fgets(line, LINE_BYTES, in))
        rc = take_line(input, line);
    if (!rc && ferror(in))
        rc = tool_fail("%s: cannot be read: %s", input->binding, strerror(errno));
    else if (!rc && !input->line_count)
        rc = tool_fail("%s: no line in it; a CPU list for each rank is expected", input->binding);
    fclose(in);
    return rc;
}

/* Returns true if --binding names a file: "none" says that Slurm binds no rank. */
static bool has_file(const struct plan_input *input)
{
    return input->binding && strcmp(input->binding, "none");
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Reads the ranks, and their number into *count; without a list there are any number of them. */
static int read_ranks(struct plan_input *input, uint32_t *count)
{
    struct nuioa_error err;
    const char *list = input->text.ranks;
    uint32_t *sorted = nuioa_arena_take(&input->arena, PLAN_TASKS_MAX, sizeof(*sorted));
    input->ranks = nuioa_arena_take(&input->arena, PLAN_TASKS_MAX, sizeof(*input->ranks));
    if (!input->ranks)
        return tool_fail("out of memory");
    for (uint32_t i = 0; i < PLAN_TASKS_MAX; i++)
        input->ranks[i] = i;
    input->whole_job = !list;
    int found = list ? nuioa_ranks_parse(list, input->ranks, PLAN_TASKS_MAX, &err) : 0;
    if (found < 0)
        return tool_usage(input->command, "--ranks: %s", err.text);
    *count = (uint32_t)found;
    memcpy(sorted, input->ranks, *count * sizeof(*sorted));
    qsort(sorted, *count, sizeof(*sorted), compare_ranks);
    for (uint32_t i = 1; i < *count; i++)
        if (sorted[i] == sorted[i - 1])
            return tool_usage(input->command, "--ranks: '%.60s' names rank %u twice", list,
                              sorted[i]);
    return 0;
}

/* Returns how many items a list has that `separator` parts. */
static uint32_t count_items(const char *list, char separator)
{
    uint32_t count = 1;
    for (; *list; list++)
        count += *list == separator;
    return count;
}

/* Finds the number of tasks. All options that give it must give the same. */
static int count_tasks(struct plan_input *input)
{
    uint32_t named;
    int rc = read_ranks(input, &named);
    if (!rc && has_file(input))
        rc = read_binding(input);
    if (rc)
        return rc;
    if (!input->task_count)
        input->task_count = named ? named : input->line_count;
    if (!input->task_count && input->gpus)
        input->task_count = count_items(input->gpus, ';');
    if (input->task_count > PLAN_TASKS_MAX)
        return tool_usage(input->command, "--gpus has GPUs for more than %d tasks", PLAN_TASKS_MAX);
    if (!input->task_count)
        return tool_usage(input->command, "--tasks is missing");
    if (input->text.ranks && named != input->task_count)
        return tool_usage(input->command, "--ranks names %u ranks, but there are %u tasks", named,
                          input->task_count);
    if (has_file(input) && input->line_count != input->task_count)
        return tool_fail("%s: has %u lines, but there are %u tasks", input->binding,
                         input->line_count, input->task_count);
    if (input->gpus && count_items(input->gpus, ';') != input->task_count)
        return tool_usage(input->command, "--gpus has GPUs for %u tasks, but there are %u tasks",
                          count_items(input->gpus, ';'), input->task_count);
    return 0;
}

int plan_input_read(struct plan_input *input)
{
    const char *allowed = input->text.allowed;
    if (allowed) {
        input->allowed = nuioa_arena_bitmap(&input->arena, NULL);
        if (!input->allowed)
            return tool_fail("out of memory");
        if (read_cpus(allowed, input->allowed))
            return tool_usage(input->command, "--allowed: '%s' is not a CPU list such as 0,2,4-7",
                              allowed);
    }
    return count_tasks(input);
}

/* --- where Slurm would put them --------------------------------------------------------------- */

/* Returns the first CPU of `cpus` that is not in `within`, or -1. */
static int first_outside(hwloc_const_bitmap_t cpus, hwloc_const_bitmap_t within)
{
    for (int cpu = hwloc_bitmap_first(cpus); cpu >= 0; cpu = hwloc_bitmap_next(cpus, cpu))
        if (!hwloc_bitmap_isset(within, (unsigned)cpu))
            return cpu;
    return -1;
}

static int find_binding(struct plan_input *input, const struct nuioa_node *node,
                        const struct nuioa_options *options)
{
    hwloc_const_bitmap_t allowed = input->allowed ? input->allowed : node->allowed_cpus;
    struct nuioa_error err;
    int outside = first_outside(allowed, node->allowed_cpus);
    if (outside >= 0)
        return tool_fail("--allowed: CPU %d is not there, or not allowed", outside);
    for (uint32_t i = 0; i < input->line_count; i++) {
        outside = first_outside(input->cpus[i], allowed);
        if (outside >= 0)
            return tool_fail("%s:%u: CPU %d is not there, or not allowed", input->binding, i + 1,
                             outside);
    }
    if (has_file(input))
        return 0;
    for (uint32_t i = 0; i < input->task_count; i++)
        if (!add_line(input) || hwloc_bitmap_copy(input->cpus[i], allowed) < 0)
            return tool_fail("out of memory");
    if (input->binding || (options->cores == NUIOA_CORES_SHARE && !input->cpus_per_task))
        return 0;
    uint32_t each = input->cpus_per_task ? input->cpus_per_task : 1;
    if (nuioa_default_binding(node, allowed, input->task_count, each, input->cpus, &err))
        return tool_fail("%s", err.text);
    return 0;
}

/* --- what they communicate -------------------------------------------------------------------- */

static int weigh_by_list(struct plan_input *input, const char *list,
                         struct nuioa_warnings *warnings)
{
    struct nuioa_hints hints;
    struct nuioa_error err;
    uint32_t rank;
    if (nuioa_hints_parse(&hints, list, &err))
        return tool_fail("%s", err.text);
    for (uint32_t i = 0; i < input->task_count; i++)
        input->tasks[i].weight = nuioa_hints_weight(&hints, input->ranks[i]);
    if (input->whole_job && nuioa_hints_beyond(&hints, input->task_count, &rank))
        nuioa_warn(
            warnings,
            "--hints names rank %u, but the ranks are 0 to %u. For a part of a larger job, use "
            "--ranks",
            rank, input->task_count - 1);
    nuioa_hints_free(&hints);
    return 0;
}

static int weigh_by_profile(struct plan_input *input, const char *path, enum nuioa_policy policy,
                            struct nuioa_warnings *warnings)
{
    struct nuioa_profile profile;
    struct nuioa_error err;
    double *weight = nuioa_arena_take(&input->arena, input->task_count, sizeof(*weight));
    if (!weight)
        return tool_fail("out of memory");
    if (nuioa_profile_read(path, &profile, &err))
        return tool_fail("%s", err.text);
    int rc = nuioa_profile_slice(&profile, policy, input->ranks, input->task_count, weight,
                                 &input->pairs, &input->pair_count, warnings);
    for (uint32_t i = 0; !rc && i < input->task_count; i++)
        input->tasks[i].weight = weight[i];
    nuioa_profile_warn(&profile, warnings);
    nuioa_profile_free(&profile);
    return rc ? tool_fail("out of memory") : 0;
}

static int find_weights(struct plan_input *input, const struct nuioa_options *options,
                        struct nuioa_warnings *warnings)
{
    input->tasks = nuioa_arena_take(&input->arena, input->task_count, sizeof(*input->tasks));
    if (!input->tasks)
        return tool_fail("out of memory");
    for (uint32_t i = 0; i < input->task_count; i++)
        input->tasks[i] = (struct nuioa_task){
            .rank = input->ranks[i],
            .cpus = input->cpus[i],
            .gpus_known = true,
        };
    if (!*options->hints)
        return 0;
    char list[NUIOA_VALUE_MAX + 1];
    struct nuioa_error err;
    const char *file = nuioa_hints_file(options->hints);
    int rc = file ? nuioa_profile_list(file, list, sizeof(list), &err) : 1;
    if (rc < 0)
        return tool_fail("%s", err.text);
    return rc ? weigh_by_list(input, file ? list : options->hints, warnings)
              : weigh_by_profile(input, file, options->policy, warnings);
}

int plan_input_request(struct plan_input *input, const struct nuioa_node *node,
                       const struct nuioa_options *options, struct nuioa_request *request,
                       struct nuioa_warnings *warnings)
{
    int rc = find_binding(input, node, options);
    if (!rc)
        rc = find_weights(input, options, warnings);
    if (rc)
        return rc;
    *request = (struct nuioa_request){
        .node = node,
        .options = options,
        .task_count = input->task_count,
        .tasks = input->tasks,
        .pair_count = input->pair_count,
        .pairs = input->pairs,
        .allowed_cpus = input->allowed,
        .cpus_per_task = input->cpus_per_task,
        .cpus_typed = input->cpus_per_task,
        .hinted = *options->hints,
        .planned = node->emulated,
    };
    return 0;
}

/* --- their GPUs ------------------------------------------------------------------------------- */

/* Reads the GPUs of one task, such as "2,3"; "" means none. Appends them to input->gpu_list, which
 * has *count so far. `gpus` is for its own use. */
static int read_gpus(struct plan_input *input, const struct nuioa_node *node, uint32_t local,
                     const char *item, hwloc_bitmap_t gpus, size_t *count)
{
    hwloc_bitmap_zero(gpus);
    if (*item && read_cpus(item, gpus))
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

static int find_gpus(struct plan_input *input, const struct nuioa_node *node,
                     enum nuioa_gpu_mode mode)
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

int plan_input_gpus(struct plan_input *input, const struct nuioa_node *node,
                    const struct nuioa_options *options, struct nuioa_request *request)
{
    int rc = find_gpus(input, node, options->gpus);
    for (uint32_t i = 0; i < input->task_count; i++)
        request->sees_gpu =
            request->sees_gpu || input->tasks[i].gpu_count || input->tasks[i].seen_count;
    return rc;
}

void plan_input_free(struct plan_input *input)
{
    free(input->pairs);
    nuioa_arena_free(&input->arena);
    memset(input, 0, sizeof(*input));
}
