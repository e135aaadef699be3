/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/task.h"

#include "spank/task/own_gpus.h"
#include "spank/task/own_settings.h"
#include "spank/task/preload.h"

/* A task waits for slurmstepd so much longer than nodes may wait for each other. */
#define SLACK_MS 2000

static unsigned longest_wait_ms(const struct stepd_context *c)
{
    /* For steps with GPUs the thread may wait for the other tasks, and then make the plan. */
    return c->options.timeout_ms + SLACK_MS + (c->gpus ? 2 * c->options.deadline_ms : 0);
}

uint32_t *task_init(const struct stepd_context *c, spank_t spank)
{
    int local = -1;
    bool ours = c->task_memory && spank_get_item(spank, S_TASK_ID, &local) == ESPANK_SUCCESS &&
                local >= 0 && (uint32_t)local < c->step.task_count;
    if (ours)
        own_gpus_tell(c, (uint32_t)local, spank);
    bool complete = ours && task_memory_wait(c->task_memory, longest_wait_ms(c));
    if (ours)
        own_settings_apply(c, (uint32_t)local, spank);
    if (complete)
        own_settings_apply_job(c->task_memory, (uint32_t)local, spank);
    preload_enter(c, complete, spank);
    return ours ? &c->task_memory->tasks[local].init_us : NULL;
}
