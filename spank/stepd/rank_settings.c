/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/rank_settings.h"

#include <stdio.h>

#include "output/environment.h"
#include "output/exported.h"
#include "output/library_variables.h"
#include "util/variable.h"
#include "util/word.h"

#define ROOM TASK_MEMORY_TEXT_MAX

void rank_settings_unset_outer(spank_t spank)
{
    for (int i = 0; *nuioa_environment_names[i]; i++)
        if (nuioa_variable(step_environment(spank), nuioa_environment_names[i]))
            spank_unsetenv(spank, nuioa_environment_names[i]);
}

void rank_settings_unset_exported(spank_t spank)
{
    char names[2048], *rest, *name;
    rest = nuioa_exported_outer(step_environment(spank), names, sizeof(names));
    while ((name = nuioa_next_word(&rest, " ")))
        spank_unsetenv(spank, name);
}

/* Begins an empty block at offset `at`, which it returns. */
static uint16_t begin_block(struct task_memory_part *task, int at)
{
    task->text[at] = '\0';
    return (uint16_t)at;
}

/* Writes all blocks of a task. If the plan is for another machine (`planned`), only the first one
 * is written, because programs act on the variables in the others. */
static int write_blocks(struct step_run *c, const struct nuioa_plan *plan, uint32_t local)
{
    const struct nuioa_node *node = &c->facts->node;
    const struct nuioa_options *options = &c->facts->options;
    struct task_memory_part *task = &c->task_memory->tasks[local];
    char *text = task->text;
    int at = nuioa_environment(plan, node, options, local, text, ROOM), used;
    if (at < 0)
        return at;
    task->libraries = task->automatic = task->threads = begin_block(task, at);
    if (plan->planned)
        return 0;
    used = nuioa_library_variables(plan, node, options, local, text + at, ROOM - (size_t)at);
    if (used < 0)
        return used;
    task->automatic = begin_block(task, at += used);
    used = nuioa_library_auto(plan, node, options, local, text + at, ROOM - (size_t)at);
    if (used < 0)
        return used;
    task->threads = begin_block(task, at += used);
    return nuioa_environment_threads(plan, local, c->facts->step.asked.threads, text + at,
                                     ROOM - (size_t)at);
}

static void write_one(struct step_run *c, const struct nuioa_plan *plan, uint32_t local)
{
    struct task_memory_part *task = &c->task_memory->tasks[local];
    if (write_blocks(c, plan, local) < 0) {
        nuioa_warn(&c->faults,
                   "rank %u gets no NUIOA_* variables: they need more than %zu bytes. Use "
                   "--nuioa-export=pmix",
                   c->facts->step.ranks[local], ROOM);
        task->libraries = task->automatic = task->threads = begin_block(task, 0);
    }
    if (!plan->planned && nuioa_mempolicy_of(&plan->assignments[local], &task->memory) < 0)
        nuioa_warn(&c->faults,
                   "rank %u keeps Slurm's memory policy: nuioa can name NUMA nodes below %u only; "
                   "use --mem-bind",
                   c->facts->step.ranks[local], NUIOA_NUMAS_MAX);
    if (c->gpus)
        task->gpus = c->gpus[local];
    __atomic_store_n(&task->ready, 1, __ATOMIC_RELEASE);
}

void rank_settings_write(struct step_run *c, const struct nuioa_plan *plan)
{
    for (uint32_t i = 0; i < plan->task_count && i < c->facts->step.task_count; i++)
        write_one(c, plan, i);
}
