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

/* What is only planned would mislead programs that act on it. */
static int prepare_foreign(struct context *c, const struct nuioa_plan *plan, uint32_t local)
{
    struct area_task *task = &c->area[local];
    if (plan->planned)
        return 0;
    int rc = nuioa_environment_foreign(plan, &c->node, &c->options, local, task->foreign,
                                       sizeof(task->foreign));
    if (rc < 0 || c->options.mode != NUIOA_ON || !c->options.threads || c->step.cpus_per_task < 2)
        return rc;
    return nuioa_environment_threads(plan, local, c->step.omp_threads, task->threads,
                                     sizeof(task->threads));
}

/* "NUIOA_LEADERS=0,4,8", "" where it is unknown or longer than a variable may be. */
static void print_leaders(char *text, size_t size, const uint32_t *leaders, uint32_t count)
{
    size_t used = (size_t)snprintf(text, size, "NUIOA_LEADERS=");
    for (uint32_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%u", i ? "," : "", leaders[i]);
    if (!count || used >= size)
        *text = '\0';
}

/* After the last entry of a block, whose length with its end is `used`. */
static int append(char *block, size_t size, int used, const char *entry)
{
    size_t length = strlen(entry);
    if (used < 1 || (size_t)used + length + 1 > size)
        return used < 0 ? used : -1;
    if (length) {
        memcpy(block + used - 1, entry, length + 1);
        block[(size_t)used + length] = '\0';
    }
    return 0;
}

static void prepare_one(struct context *c, const struct nuioa_plan *plan, const char *leaders,
                        uint32_t local)
{
    struct area_task *task = &c->area[local];
    int used = nuioa_environment(plan, &c->node, &c->options, local, task->ours,
                                 sizeof(task->ours));
    if (append(task->ours, sizeof(task->ours), used, leaders) < 0 ||
        prepare_foreign(c, plan, local) < 0) {
        nuioa_warn(&c->faults, "rank %u is not told its place: out of room", c->step.ranks[local]);
        task->ours[0] = task->foreign[0] = task->threads[0] = '\0';
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
        c->area[i].job_known = leader_count > 0;
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
    take_block(spank, task->ours, true);
    take_block(spank, task->foreign, false);
    if (!placed)
        take_block(spank, task->threads, false);
}
