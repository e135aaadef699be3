/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/own_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option/option_environment.h"
#include "output/environment.h"
#include "output/exported.h"
#include "output/library_choice.h"
#include "output/library_variables.h"
#include "output/user_variables.h"
#include "spank/common/step.h"
#include "spank/stepd/gpu_share.h"
#include "spank/stepd/task_gpus.h"
#include "spank/task/gpu_nics_lookup.h"
#include "spank/task/own_gpus.h"
#include "util/variable.h"

#define ROOM TASK_MEMORY_TEXT_MAX

/* The task whose settings these are. */
struct own {
    const struct step_run *context;
    const struct task_memory_part *task;
    uint32_t local;
    spank_t spank;
    struct nuioa_exported exported; /* what is set for other libraries */
};

/* Sets nuioa's own variables, which replace what the user has set. */
static void set_ours(spank_t spank, const char *block)
{
    char name[64];
    const char *value;
    while ((value = nuioa_block_next(&block, name, sizeof(name))))
        spank_setenv(spank, name, value, 1);
}

/* Sets those variables of other programs whose names begin with `prefix`, where the user has set
 * nothing, and notes them. */
static void set_others(struct own *own, const char *block, const char *prefix)
{
    char name[64];
    const char *value;
    while ((value = nuioa_block_next(&block, name, sizeof(name)))) {
        char **environment = step_environment(own->spank);
        if (!strncmp(name, prefix, strlen(prefix)) && !nuioa_variable(environment, name) &&
            !nuioa_is_set_otherwise(environment, name) &&
            nuioa_exported_add(&own->exported, name, value))
            spank_setenv(own->spank, name, value, 0);
    }
}

/* Sets the variables of export=auto, if nobody else chooses NICs and this process reaches them. */
static void set_automatic(struct own *own, const char *block)
{
    const struct step_facts *facts = own->context->facts;
    const char *program = step_program(own->spank);
    if (*block && program && !nuioa_library_is_wrapper(step_environment(own->spank), program) &&
        nuioa_library_is_free(step_environment(own->spank), &facts->node, block,
                              facts->options.deadline_ms))
        set_others(own, block, "");
}

/* Says for an inner step what has been set. */
static void set_exported(const struct own *own)
{
    spank_t spank = own->spank;
    if (!*own->exported.names)
        return;
    spank_setenv(spank, "NUIOA_EXPORTED", own->exported.names, 1);
    spank_setenv(spank, NUIOA_VARIABLE_EXPORTED, own->exported.values, 1);
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
static void set_own_nics(const struct own *own, const struct nuioa_assignment *found, char *text)
{
    const struct step_facts *facts = own->context->facts;
    if (nuioa_environment_nics(found, &facts->node, &facts->options, text, ROOM) < 0)
        return;
    if (*text)
        spank_unsetenv(own->spank, "NUIOA_LEVEL");
    set_ours(own->spank, text);
}

/* Returns true if variables of other programs may choose NICs for a task with these GPUs: those
 * that it has by gpus=local-rank count only if the user has typed --nuioa. */
static bool may_filter(const struct step_run *c, const struct task_gpu_set *gpus)
{
    return gpus->state == TASK_GPUS_KNOWN ||
           (gpus->state == TASK_GPUS_BY_RANK && c->facts->options.asked);
}

/* Sets the variables of other libraries by the NICs of *found, in place of those of the plan. Those
 * that do not depend on the task's NICs are the plan's. `text` has ROOM bytes. */
static void set_libraries(struct own *own, const struct nuioa_assignment *found, char *text)
{
    const struct step_facts *facts = own->context->facts;
    const struct task_memory *memory = own->context->task_memory;
    struct nuioa_options options = facts->options;
    struct nuioa_plan plan = { .task_count = facts->step.task_count };
    if (!memory->connected) {
        set_others(own, own->task->text + own->task->libraries, "");
        return;
    }
    plan.usable = (struct nuioa_usable){ .count = memory->usable, .connected = true };
    plan.assignments = calloc(plan.task_count, sizeof(*plan.assignments));
    if (!plan.assignments || facts->node.emulated)
        goto out;
    plan.assignments[own->local] = *found;
    options.export_set &= ~(unsigned)NUIOA_EXPORT_NCCL;
    if (nuioa_library_variables(&plan, &facts->node, &options, own->local, text, ROOM) >= 0)
        set_others(own, text, "");
    if (nuioa_library_auto(&plan, &facts->node, &options, own->local, text, ROOM) >= 0)
        set_automatic(own, text);
out:
    set_others(own, own->task->text + own->task->libraries, "NCCL_");
    free(plan.assignments);
}

/* Sets the variables that depend on the NICs, in place of those of the plan, which did not know
 * that the task has these GPUs; if they are `shared`, it only sees them, and nobody knows which it
 * has. Returns true if all is set. `text` has ROOM bytes. */
static bool set_looked_up(struct own *own, const struct task_gpu_set *gpus, bool shared, char *text)
{
    const struct step_run *c = own->context;
    struct nuioa_assignment found = { 0 };
    const char *cpus = nuioa_variable(step_environment(own->spank), "NUIOA_CPUS");
    if (shared && c->facts->options.export_set & NUIOA_EXPORT_ENV &&
        gpu_nics_text(c, gpus, text, ROOM))
        spank_setenv(own->spank, "NUIOA_GPU_NICS", text, 1);
    if (shared ? !gpu_nics_look_up_one(c, gpus, cpus, own->local, &found)
               : !gpu_nics_look_up(c, gpus, cpus, &found))
        return false;
    set_own_nics(own, &found, text);
    if (!shared && may_filter(c, gpus))
        set_libraries(own, &found, text);
    free(found.nics);
    free(found.gpus);
    return !shared;
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
static void set_nics(struct own *own)
{
    const struct step_run *c = own->context;
    const struct task_memory_part *task = own->task;
    struct task_gpu_set told = task->told.gpus;
    bool known = may_filter(c, &task->gpus);
    bool open = c->gpus && task->gpus.state == TASK_GPUS_OPEN;
    char *text = open ? malloc(ROOM) : NULL;
    bool shared = text && !has_all(c, &told) && !gpu_share_take_by_rank(&told);
    bool done = text && set_looked_up(own, &told, shared, text);
    free(text);
    if (done)
        return;
    known = known || !task_gpus_are_possible(c, nuioa_gpus_given(step_environment(own->spank)));
    if (known)
        set_others(own, task->text + task->libraries, "");
    /* That a step without GPUs may use none of the node's, its tasks alone find out. */
    if (known || (!c->facts->step.sees_gpu && own_gpus_are_denied(c)))
        set_automatic(own, task->text + task->automatic);
}

void own_settings_apply(const struct step_run *c, uint32_t local, spank_t spank)
{
    struct own own = { c, &c->task_memory->tasks[local], local, spank, { "", "" } };
    if (!__atomic_load_n(&own.task->ready, __ATOMIC_ACQUIRE))
        return;
    int rc = nuioa_bind_memory(&own.task->memory);
    if (rc < 0)
        slurm_debug("nuioa: memory policy: %s", strerror(-rc));
    bool placed = nuioa_threads_are_placed(step_environment(spank));
    set_ours(spank, own.task->text);
    if (*own.task->text)
        set_step(spank);
    set_nics(&own);
    if (!placed)
        set_others(&own, own.task->text + own.task->threads, "");
    set_exported(&own);
}
