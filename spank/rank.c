#include "rank.h"

#include <stdio.h>
#include <string.h>

#include "doors.h"
#include "environment.h"

void rank_forget(spank_t spank)
{
    for (const char *const *name = nuioa_environment_names; *name; name++)
        if (doors_variable(step_environment(spank), *name))
            spank_unsetenv(spank, *name);
}

/* --- slurmstepd ------------------------------------------------------------------------------- */

/* "NUIOA_LEADERS=0,4,8", "" where it is unknown or longer than a variable may be. */
static void print_leaders(char *text, size_t size, const uint32_t *leaders, uint32_t count)
{
    size_t used = (size_t)snprintf(text, size, "NUIOA_LEADERS=");
    for (uint32_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%u", i ? "," : "", leaders[i]);
    if (!count || used >= size)
        *text = '\0';
}

/* Room for the blocks of a task, and for an empty one behind them. */
#define ROOM (sizeof(((struct area_task *)NULL)->text) - 1)

/* Adds an entry to a block that ends at `used`. Where it ends then, or negative. */
static int append(char *text, int used, const char *entry)
{
    size_t length = strlen(entry);
    if (used < 1 || (size_t)used + length + 1 > ROOM)
        return -1;
    if (!length)
        return used;
    memcpy(text + used - 1, entry, length + 1);
    text[(size_t)used + length] = '\0';
    return used + (int)length + 1;
}

/* All blocks. What is only planned would mislead programs that act on it. */
static int write_blocks(struct context *c, const struct nuioa_plan *plan, const char *leaders, uint32_t local)
{
    struct area_task *task = &c->area->tasks[local];
    int at = append(task->text, nuioa_environment(plan, &c->node, &c->options, local, task->text, ROOM), leaders);
    if (at < 0)
        return at;
    task->foreign = task->threads = (uint16_t)at;
    task->text[at] = '\0';
    if (plan->planned)
        return 0;
    int used = nuioa_environment_foreign(plan, &c->node, &c->options, local, task->text + at, ROOM - (size_t)at);
    if (used < 0)
        return used;
    at += used;
    task->threads = (uint16_t)at;
    task->text[at] = '\0';
    if (c->options.mode != NUIOA_ON || !c->options.threads || c->step.cpus_per_task < 2)
        return 0;
    return nuioa_environment_threads(plan, local, c->step.omp_threads, task->text + at, ROOM - (size_t)at);
}

static void prepare_one(struct context *c, const struct nuioa_plan *plan, const char *leaders,
                        uint32_t local)
{
    struct area_task *task = &c->area->tasks[local];
    if (write_blocks(c, plan, leaders, local) < 0) {
        nuioa_warn(&c->faults, "rank %u is not told its place: out of room", c->step.ranks[local]);
        task->text[0] = '\0';
        task->foreign = task->threads = 0;
    }
    if (!plan->planned && nuioa_mempolicy_of(&plan->places[local], &task->memory) < 0)
        nuioa_warn(&c->faults, "the memory of rank %u stays as it was: too many NUMA nodes",
                   c->step.ranks[local]);
    task->ready = true;
}

void rank_prepare(struct context *c, const struct nuioa_plan *plan, const uint32_t *leaders,
                  uint32_t leader_count)
{
    char text[4096];
    print_leaders(text, sizeof(text), leaders, leader_count);
    if (!(c->options.export_set & NUIOA_EXPORT_ENV))
        *text = '\0';
    for (uint32_t i = 0; i < plan->task_count && i < c->step.task_count; i++) {
        prepare_one(c, plan, text, i);
        c->area->tasks[i].job_known = leader_count > 0;
    }
}

/* --- the task --------------------------------------------------------------------------------- */

/* Whoever sets one of these has decided where threads go. */
static const char *const thread_variables[] = { "OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY",
                                                "KMP_AFFINITY", NULL };

static bool has_thread_variable(char **environment)
{
    for (const char *const *name = thread_variables; *name; name++)
        if (doors_variable(environment, *name))
            return true;
    return false;
}

/* Whoever sets the second has said what the first would say, or made it wrong: another name of the
 * same variable, several progress threads for each rank. */
static bool is_said_otherwise(char **environment, const char *name)
{
    static const char *const pairs[][2] = {
        { "MPIR_CVAR_PROGRESS_THREAD_AFFINITY", "MPICH_PROGRESS_THREAD_AFFINITY" },
        { "I_MPI_ASYNC_PROGRESS_PIN", "I_MPI_ASYNC_PROGRESS_THREADS" },
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (!strcmp(name, pairs[i][0]) && doors_variable(environment, pairs[i][1]))
            return true;
    return false;
}

static void take_block(spank_t spank, const char *block, bool overwrite)
{
    for (const char *setting = block; *setting; setting += strlen(setting) + 1) {
        char name[64];
        size_t length = strcspn(setting, "=");
        if (!setting[length] || length >= sizeof(name))
            continue;
        memcpy(name, setting, length);
        name[length] = '\0';
        if (overwrite || !is_said_otherwise(step_environment(spank), name))
            spank_setenv(spank, name, setting + length + 1, overwrite);
    }
}

/* We have the last word on what is ours; on what other programs read, the user has it. */
void rank_enter(const struct area_task *task, spank_t spank)
{
    if (!task->ready)
        return;
    int rc = nuioa_bind_memory(&task->memory);
    if (rc < 0)
        slurm_debug("nuioa: memory policy: %s", strerror(-rc));
    bool placed = has_thread_variable(step_environment(spank));
    take_block(spank, task->text, true);
    take_block(spank, task->text + task->foreign, false);
    if (!placed)
        take_block(spank, task->text + task->threads, false);
}
