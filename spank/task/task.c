/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/task.h"

#include "spank/common/other_launcher.h"
#include "spank/task/own_gpus.h"
#include "spank/task/own_settings.h"
#include "spank/task/trace_preload.h"

uint32_t *task_init(const struct step_run *c, spank_t spank)
{
    int local = -1;
    bool ours = c->task_memory && spank_get_item(spank, S_TASK_ID, &local) == ESPANK_SUCCESS &&
                local >= 0 && (uint32_t)local < c->facts->step.task_count;
    other_launcher_in_batch(spank);
    if (ours)
        own_gpus_tell(c, (uint32_t)local, spank);
    if (ours) {
        task_memory_wait(c->task_memory);
        own_settings_apply(c, (uint32_t)local, spank);
    }
    preload_enter(c, spank);
    return ours ? &c->task_memory->tasks[local].init_us : NULL;
}
