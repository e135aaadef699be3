/* SPDX-License-Identifier: BSD-3-Clause */

/* From a node's description on to the plan, and all that is printed, exported and bound
 * of it. The input is: how many tasks, CPUs for each, flags, how many pairs; for each task its
 * weight, GPU and two CPUs; for each pair both tasks and its traffic; a line of options; and the
 * description. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "output/environment.h"
#include "output/library_variables.h"
#include "output/report.h"
#include "output/report_node.h"
#include "payload.h"
#include "plan/bind.h"
#include "plan/planner.h"
#include "plan/plan.h"
#include "util/word.h"

enum { TASKS_MAX = 12, PAIRS_MAX = 16, PUS_MAX = 512 };

struct test {
    struct nuioa_node node;
    struct nuioa_options options;
    struct nuioa_task tasks[TASKS_MAX];
    hwloc_bitmap_t masks[TASKS_MAX];
    unsigned cpu[TASKS_MAX][2];
    struct nuioa_pair pairs[PAIRS_MAX];
    struct nuioa_request request;
    int32_t gpu[TASKS_MAX];
    uint32_t own_gpus[TASKS_MAX][2];
    uint32_t cpus_per_task;
    bool block_binding;
};

static void take_tasks(struct test *t, struct input *input)
{
    struct nuioa_request *r = &t->request;
    r->task_count = 1 + input_below(input, TASKS_MAX);
    t->cpus_per_task = 1 + input_below(input, 8);
    unsigned flags = input_byte(input);
    r->pair_count = input_below(input, PAIRS_MAX + 1);
    t->block_binding = flags & 1;
    r->hinted = flags & 2;
    r->bound_by_user = flags & 4;
    r->memory_by_user = flags & 8;
    r->sees_gpu = flags & 16;
    r->memory_by_rank = (flags & 24) == 24;
    r->planned = flags & 32;
    r->stay = flags & 64 ? NUIOA_REASON_GPUS_LATE : NUIOA_REASON_NONE;
    r->cpus_per_task = flags & 128 ? t->cpus_per_task : 0;
    for (uint32_t i = 0; i < r->task_count; i++) {
        t->tasks[i].rank = i * 3;
        t->tasks[i].weight = r->hinted ? input_byte(input) * 1e3 : 0;
        t->gpu[i] = (int32_t)input_below(input, 16) - 1;
        t->cpu[i][0] = input_byte(input);
        t->cpu[i][1] = input_byte(input);
    }
}

/* Each pair is listed once, with its first task before the second, as the callers do it. */
static void take_pairs(struct test *t, struct input *input)
{
    struct nuioa_request *r = &t->request;
    uint32_t wanted = r->pair_count, tasks = r->task_count;
    r->pair_count = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t a = input_below(input, tasks), b = input_below(input, tasks);
        struct nuioa_pair pair = { a < b ? a : b, a < b ? b : a, input_byte(input) * 1e3 };
        bool listed = a == b;
        for (uint32_t j = 0; j < r->pair_count; j++)
            listed |= t->pairs[j].first == pair.first && t->pairs[j].second == pair.second;
        if (!listed)
            t->pairs[r->pair_count++] = pair;
    }
}

static void take_options(struct test *t, struct input *input)
{
    char *line = input_line(input), *rest = line;
    nuioa_options_init(&t->options);
    t->options.mode = NUIOA_ON;
    for (char *word; (word = nuioa_next_word(&rest, " "));) {
        char *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        nuioa_options_set(&t->options, NUIOA_FROM_TOOL, word, value, NULL);
    }
    nuioa_options_finish(&t->options);
    free(line);
}

/* Returns whether the tasks have CPUs. Slurm gives every task at least one. */
static bool make_masks(struct test *t)
{
    const struct nuioa_node *node = &t->node;
    uint32_t count = t->request.task_count;
    for (uint32_t i = 0; i < count; i++)
        t->masks[i] = hwloc_bitmap_alloc();
    for (uint32_t i = 0; i < count; i++) {
        t->tasks[i].gpus_known = t->gpu[i] < (int32_t)node->gpu_count;
        t->tasks[i].gpu_count = t->tasks[i].gpus_known && t->gpu[i] >= 0;
        t->own_gpus[i][0] = (uint32_t)t->gpu[i];
        t->own_gpus[i][1] = (uint32_t)t->gpu[i] + 1;
        /* Odd ones also have the next GPU. */
        if (t->tasks[i].gpu_count && t->gpu[i] % 2 && t->own_gpus[i][1] < node->gpu_count)
            t->tasks[i].gpu_count = 2;
        t->tasks[i].gpus = t->own_gpus[i];
        t->tasks[i].cpus = t->masks[i];
        for (unsigned c = 0; c < 2; c++)
            hwloc_bitmap_set(t->masks[i], node->pus[t->cpu[i][c] % node->pu_count].os_index);
    }
    return !t->block_binding || !nuioa_default_binding(node, node->allowed_cpus, count,
                                                       t->cpus_per_task, t->masks, NULL);
}

static void print_all(const struct test *t, const struct nuioa_plan *plan)
{
    char *texts[] = {
        nuioa_report_text(plan, &t->node, &t->options, false),
        nuioa_report_text(plan, &t->node, &t->options, true),
        nuioa_report_cpu_bind(plan),
        nuioa_report_node(&t->node),
    };
    for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        INPUT_HOLDS(texts[i] != NULL);
        free(texts[i]);
    }
}

static void export_all(const struct test *t, const struct nuioa_plan *plan)
{
    enum { ENV_MAX = 8192 };
    char text[256];
    for (uint32_t i = 0; i < plan->task_count; i++) {
        struct nuioa_mempolicy policy;
        char *env = malloc(ENV_MAX);
        INPUT_CHECK(env != NULL);
        nuioa_environment(plan, &t->node, &t->options, i, env, ENV_MAX);
        nuioa_library_variables(plan, &t->node, &t->options, i, env, ENV_MAX);
        nuioa_library_auto(plan, &t->node, &t->options, i, env, ENV_MAX);
        nuioa_environment_threads(plan, i, t->cpus_per_task, env, ENV_MAX);
        nuioa_mempolicy_of(&plan->assignments[i], &policy);
        nuioa_memory_text(&plan->assignments[i], text, sizeof(text));
        nuioa_places_text(&plan->assignments[i], text, sizeof(text));
        free(env);
    }
}

static void check_plan(const struct test *t, const struct nuioa_plan *plan)
{
    const struct nuioa_request *r = &t->request;
    INPUT_CHECK(!(plan->after.j > plan->before.j * (1 + 1e-12)));
    INPUT_CHECK(plan->near <= plan->order_count && plan->order_count <= plan->task_count);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct nuioa_assignment *a = &plan->assignments[i];
        INPUT_CHECK(!hwloc_bitmap_iszero(a->cpus));
        INPUT_CHECK(a->nic < (int32_t)t->node.nic_count);
        INPUT_CHECK(a->nic_count ? a->nic == (int32_t)a->nics[0] : a->nic < 0);
        for (uint32_t k = 1; k < a->nic_count; k++)
            INPUT_CHECK(a->nics[k] < t->node.nic_count && a->nics[k] != a->nics[k - 1]);
        INPUT_CHECK(a->moved || hwloc_bitmap_isequal(a->cpus, t->masks[i]));
    }
}

static void make_plan(struct test *t)
{
    struct nuioa_plan plan;
    struct nuioa_error err;
    t->request.node = &t->node;
    t->request.options = &t->options;
    t->request.tasks = t->tasks;
    t->request.pairs = t->pairs;
    if (nuioa_plan_make(&t->request, &plan, &err))
        return;
    check_plan(t, &plan);
    print_all(t, &plan);
    export_all(t, &plan);
    if (!nuioa_plan_undo(&t->request, &plan)) {
        INPUT_CHECK(!plan.moved && plan.after.j == plan.before.j);
        print_all(t, &plan);
    }
    nuioa_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct test t;
    struct input input = { data, size };
    memset(&t, 0, offsetof(struct test, options));
    memset(t.tasks, 0, sizeof(t) - offsetof(struct test, tasks));
    take_tasks(&t, &input);
    take_pairs(&t, &input);
    take_options(&t, &input);
    if (!payload_read(&t.node, input.data, input.size) && t.node.pu_count <= PUS_MAX &&
        make_masks(&t))
        make_plan(&t);
    for (uint32_t i = 0; i < t.request.task_count; i++)
        hwloc_bitmap_free(t.masks[i]);
    nuioa_node_free(&t.node);
    return 0;
}
