/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "input.h"
#include "tools/plan_input.h"
#include "unit/machine.h"
#include "util/number.h"

/* `nuioa plan` reads its command line and the file of --binding, and makes a request for a machine
 * with GPUs. The input is four lines with the values of --tasks, --cpus-per-task, --ranks and
 * --allowed, an empty one for an option that is not given, and files (files.h), of which "b" is
 * that of --binding, and "h" the value of --hints, which may name another file. */

enum { TASKS_MAX = 64 };

/* Messages are for the user, and many. */
int tool_usage(const char *command, const char *format, ...)
{
    (void)command, (void)format;
    return 2;
}

int tool_fail(const char *format, ...)
{
    (void)format;
    return 1;
}

static void make_machine(struct nuioa_node *node)
{
    fault_pause();
    machine_quad(node);
    machine_gpu(node, 0);
    machine_gpu(node, 1);
    fault_resume();
}

static void set_options(struct nuioa_options *options)
{
    nuioa_options_init(options);
    FILE *file = fopen("h", "re");
    if (file && !fgets(options->hints, (int)sizeof(options->hints), file))
        options->hints[0] = '\0';
    if (file)
        fclose(file);
    options->hints[strcspn(options->hints, "\n")] = '\0';
}

static void check_request(struct plan_input *plan)
{
    struct nuioa_node node;
    struct nuioa_options options;
    struct nuioa_request request;
    struct nuioa_warnings warnings = { .count = 0 };
    make_machine(&node);
    set_options(&options);
    options.gpus = plan->line_count % 2 ? NUIOA_GPU_AUTO : NUIOA_GPU_LOCAL_RANK;
    if (!plan_input_request(plan, &node, &options, &request, &warnings) &&
        !plan_input_gpus(plan, &node, &options, &request)) {
        INPUT_CHECK(request.task_count == plan->task_count && plan->line_count >= plan->task_count);
        for (uint32_t i = 0; i < request.task_count; i++) {
            INPUT_CHECK(!hwloc_bitmap_iszero(request.tasks[i].cpus));
            INPUT_CHECK(hwloc_bitmap_isincluded(request.tasks[i].cpus, node.allowed_cpus));
            for (uint32_t k = 0; k < request.tasks[i].gpu_count; k++)
                INPUT_CHECK(request.tasks[i].gpus[k] < node.gpu_count);
            for (uint32_t k = 0; k < request.tasks[i].seen_count; k++)
                INPUT_CHECK(request.tasks[i].seen[k] < node.gpu_count);
        }
    }
    nuioa_node_free(&node);
}

static const char *given(const char *value)
{
    return *value ? value : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    char *values[4];
    for (unsigned i = 0; i < 4; i++)
        values[i] = input_line(&in);
    /* The fourth line is a list of CPUs, or the GPUs of the tasks. */
    const char *gpus = strchr(values[3], ';') ? values[3] : NULL;
    struct plan_input plan = {
        .command = "plan",
        .text = { given(values[2]), gpus ? NULL : given(values[3]) },
        .binding = in.size ? "b" : NULL,
        .gpus = gpus,
    };
    nuioa_parse_u32(values[0], PLAN_TASKS_MAX, &plan.task_count);
    nuioa_parse_u32(values[1], UINT16_MAX, &plan.cpus_per_task);
    files_open(in.data, in.size);
    int rc = plan_input_read(&plan);
    INPUT_CHECK(rc || plan.task_count > 0);
    INPUT_CHECK(rc || !in.size || plan.line_count == plan.task_count);
    if (!rc && plan.task_count <= TASKS_MAX)
        check_request(&plan);
    files_close();
    plan_input_free(&plan);
    for (unsigned i = 0; i < 4; i++)
        free(values[i]);
    return 0;
}
