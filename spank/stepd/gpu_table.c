/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/gpu_table.h"

#include <stdlib.h>
#include <string.h>

#include "output/gpu_nics.h"
#include "plan/plan_make.h"
#include "spank/stepd/task_gpus.h"

#define ROW_MAX (sizeof(((struct task_gpu_nics *)NULL)->nics) / sizeof(uint32_t))

/* Nothing is read back from the row: tasks can write it meanwhile. */
static void write_row(struct task_gpu_nics *row, const struct nuioa_assignment *assignment)
{
    uint32_t count = assignment->nic_count < ROW_MAX ? assignment->nic_count : ROW_MAX;
    for (uint32_t i = 0; i < count; i++)
        row->nics[i] = assignment->nics[i];
    row->count = count;
}

/* Plans for one task on each GPU, which may run on all CPUs of the step. None moves. */
static int plan_each(const struct stepd_context *c, const struct nuioa_request *request,
                     struct nuioa_plan *plan)
{
    struct nuioa_error err;
    uint32_t count = c->node.gpu_count, index[TASK_GPUS_MAX];
    struct nuioa_task *tasks = calloc(count, sizeof(*tasks));
    struct nuioa_options options = c->options;
    if (!tasks)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        index[i] = i;
        tasks[i] = (struct nuioa_task){ .rank = i,
                                        .weight = 1,
                                        .cpus = request->allowed_cpus,
                                        .gpus = &index[i],
                                        .gpu_count = 1,
                                        .gpus_known = true };
    }
    options.mode = NUIOA_EXPORT;
    struct nuioa_request each = { .node = &c->node,
                                  .options = &options,
                                  .task_count = count,
                                  .tasks = tasks,
                                  .cpu_until_us = request->cpu_until_us,
                                  .sees_gpu = true };
    int rc = nuioa_plan_make(&each, plan, &err);
    free(tasks);
    return rc;
}

/* The same for programs that choose a GPU by themselves. */
static void write_text(struct stepd_context *c, const struct nuioa_plan *plan)
{
    uint32_t all[TASK_GPUS_MAX];
    char *text = c->task_memory->gpu_nics;
    for (uint32_t i = 0; i < c->node.gpu_count; i++)
        all[i] = i;
    if (!nuioa_gpu_nics_text(plan, &c->node, all, c->node.gpu_count, text,
                             sizeof(c->task_memory->gpu_nics)))
        *text = '\0';
}

void gpu_table_write(struct stepd_context *c, const struct nuioa_request *request)
{
    struct nuioa_plan plan;
    bool open = false;
    for (uint32_t i = 0; i < c->step.task_count; i++)
        open = open || task_gpus_open(c, i);
    if (!open || plan_each(c, request, &plan) < 0)
        return;
    for (uint32_t i = 0; i < plan.task_count; i++)
        write_row(&c->task_memory->table[i], &plan.assignments[i]);
    write_text(c, &plan);
    c->task_memory->connected = plan.connected;
    nuioa_plan_free(&plan);
    __atomic_store_n(&c->task_memory->table_ready, 1, __ATOMIC_RELEASE);
}
