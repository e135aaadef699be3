/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/own_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option/option_environment.h"
#include "output/environment.h"
#include "output/library_variables.h"
#include "output/user_variables.h"
#include "spank/common/step.h"
#include "spank/stepd/gpu_share.h"
#include "spank/stepd/task_gpus.h"
#include "spank/task/gpu_nics.h"
#include "util/variable.h"

#define ROOM TASK_MEMORY_TEXT_MAX

/* Sets those variables of a block whose names begin with `prefix`. */
static void set_some(spank_t spank, const char *block, const char *prefix, bool overwrite)
{
    char name[64];
    const char *value;
    while ((value = nuioa_block_next(&block, name, sizeof(name))))
        if (strncmp(name, prefix, strlen(prefix)))
            continue;
        else if (overwrite || !nuioa_is_set_otherwise(step_environment(spank), name))
            spank_setenv(spank, name, value, overwrite);
}

static void set_block(spank_t spank, const char *block, bool overwrite)
{
    set_some(spank, block, "", overwrite);
}

/* Tells `nuioa exec` of which step the variables of nuioa are. */
static void set_step(spank_t spank)
{
    char **environment = step_environment(spank), text[64];
    const char *job = nuioa_variable(environment, "SLURM_JOB_ID");
    const char *step = nuioa_variable(environment, "SLURM_STEP_ID");
    if (!job || !step)
        return;
    snprintf(text, sizeof(text), "%.31s.%.31s", job, step);
    spank_setenv(spank, NUIOA_VARIABLE_STEP, text, 1);
}

/* Sets those of nuioa's variables that depend on the NICs. `text` has ROOM bytes. */
static void set_own(const struct step_run *c, const struct nuioa_assignment *own, char *text,
                    spank_t spank)
{
    if (nuioa_environment_nics(own, &c->facts->node, &c->facts->options, text, ROOM) < 0)
        return;
    if (*text)
        spank_unsetenv(spank, "NUIOA_LEVEL");
    set_block(spank, text, true);
}

/* Returns true if variables of other programs may choose NICs for a task with these GPUs: those
 * that it has by gpus=local-rank count only if the user has typed --nuioa. */
static bool may_filter(const struct step_run *c, const struct task_gpu_set *gpus)
{
    return gpus->state == TASK_GPUS_KNOWN ||
           (gpus->state == TASK_GPUS_BY_RANK && c->facts->options.asked);
}

/* Sets the variables that depend on the NICs, in place of those of the plan, which did not know
 * that the task has these GPUs. Variables of other programs that do not depend on them are those of
 * the plan. Returns false if nothing is known of these GPUs' NICs. `text` has ROOM bytes. */
static bool set_looked_up(const struct step_run *c, const struct task_memory_part *task,
                          const struct task_gpu_set *gpus, char *text, spank_t spank)
{
    struct nuioa_assignment own = { 0 };
    struct nuioa_plan plan = { .task_count = 1, .assignments = &own, .usable.connected = true };
    const char *cpus = nuioa_variable(step_environment(spank), "NUIOA_CPUS");
    if (!gpu_nics_look_up(c, gpus, cpus, &own))
        return false;
    set_own(c, &own, text, spank);
    if (!may_filter(c, gpus))
        *text = '\0';
    else if (!c->task_memory->connected)
        set_block(spank, task->text + task->libraries, false);
    else if (!c->facts->node.emulated &&
             nuioa_library_variables(&plan, &c->facts->node, &c->facts->options, 0, text, ROOM) >=
                 0)
        set_block(spank, text, false);
    if (may_filter(c, gpus))
        set_some(spank, task->text + task->libraries, "NCCL_", false);
    free(own.nics);
    free(own.gpus);
    return true;
}

/* Sets nuioa's variables for a task that sees these GPUs, and nobody knows which of them it has. */
static void set_shared(const struct step_run *c, uint32_t local, char *text, spank_t spank)
{
    struct nuioa_assignment own = { 0 };
    const struct task_gpu_set *seen = &c->task_memory->tasks[local].told.gpus;
    const char *cpus = nuioa_variable(step_environment(spank), "NUIOA_CPUS");
    if (c->facts->options.export_set & NUIOA_EXPORT_ENV && gpu_nics_text(c, seen, text, ROOM))
        spank_setenv(spank, "NUIOA_GPU_NICS", text, 1);
    if (!gpu_nics_look_up_one(c, seen, cpus, local, &own))
        return;
    set_own(c, &own, text, spank);
    free(own.nics);
    free(own.gpus);
}

/* Returns true if a task has all GPUs that it has told of itself. Only one that sees several asks
 * the others, and waits for them. */
static bool has_all(const struct step_run *c, const struct task_gpu_set *told)
{
    uint32_t count = c->facts->step.task_count;
    if (told->state != TASK_GPUS_KNOWN || count <= 1 || gpu_share_count(told) <= 1)
        return told->state == TASK_GPUS_KNOWN;
    struct task_gpu_set *sets = calloc(count, sizeof(*sets));
    if (!sets)
        return false;
    task_memory_see(c->task_memory, count, c->facts->options.deadline_ms, sets);
    struct gpu_share share = gpu_share_find(sets, count);
    free(sets);
    return gpu_share_is_own(&share, told);
}

/* Sets what depends on the NICs and is not yet set. A task that may have GPUs, and nobody knows
 * which, is told no NIC by variables of other programs: they could keep it from the NIC of its
 * GPU. */
static void set_nics(const struct step_run *c, uint32_t local, spank_t spank)
{
    const struct task_memory_part *task = &c->task_memory->tasks[local];
    struct task_gpu_set told = task->told.gpus;
    bool known = may_filter(c, &task->gpus);
    bool open = c->gpus && task->gpus.state == TASK_GPUS_OPEN, done = false;
    char *text = open ? malloc(ROOM) : NULL;
    if (text && (has_all(c, &told) || gpu_share_take_by_rank(&told)))
        done = set_looked_up(c, task, &told, text, spank);
    else if (text)
        set_shared(c, local, text, spank);
    free(text);
    if (!done && (known || !task_gpus_are_possible(c, nuioa_gpus_given(step_environment(spank)))))
        set_block(spank, task->text + task->libraries, false);
}

/* nuioa's own variables replace what the user has set. Variables that other programs read do
 * not. */
void own_settings_apply(const struct step_run *c, uint32_t local, spank_t spank)
{
    const struct task_memory_part *task = &c->task_memory->tasks[local];
    if (!__atomic_load_n(&task->ready, __ATOMIC_ACQUIRE))
        return;
    int rc = nuioa_bind_memory(&task->memory);
    if (rc < 0)
        slurm_debug("nuioa: memory policy: %s", strerror(-rc));
    bool placed = nuioa_threads_are_placed(step_environment(spank));
    set_block(spank, task->text, true);
    if (*task->text)
        set_step(spank);
    set_nics(c, local, spank);
    if (!placed)
        set_block(spank, task->text + task->threads, false);
}
