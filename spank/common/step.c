/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/step.h"

#include <errno.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>

#include "option/option_environment.h"
#include "output/user_variables.h"
#include "spank/common/hosts.h"
#include "spank/common/log.h"
#include "topology/gpu_count.h"
#include "util/variable.h"
#include "util/word.h"

#define WORD_SIZE 32

bool step_is_ordinary(spank_t spank)
{
    uint32_t id;
    return spank_get_item(spank, S_JOB_STEPID, &id) == ESPANK_SUCCESS &&
           id <= SLURM_MAX_NORMAL_STEP_ID;
}

const char *step_program(spank_t spank)
{
    int argc = 0;
    char **argv = NULL;
    bool known = spank_get_item(spank, S_JOB_ARGV, &argc, &argv) == ESPANK_SUCCESS;
    return known && argc > 0 && argv ? argv[0] : NULL;
}

bool step_is_launcher(spank_t spank)
{
    const char *program = step_program(spank), *slash = program ? strrchr(program, '/') : NULL;
    return program && nuioa_word_index("mpirun|mpiexec|orted|prterun|prted|flux|hydra_pmi_proxy|"
                                       "hydra_bstrap_proxy",
                                       slash ? slash + 1 : program) >= 0;
}

char **step_environment(spank_t spank)
{
    char **environment = NULL;
    return spank_get_item(spank, S_JOB_ENV, &environment) == ESPANK_SUCCESS ? environment : NULL;
}

/* Returns true if a bind type like "quiet,mask_cpu:" has one of the words, "a|b". The masks
 * themselves are in another variable, which Slurm 22.05 garbles and which is not needed. */
static bool bind_type_has(const char *type, const char *words)
{
    while (type && *type) {
        char word[WORD_SIZE] = "";
        size_t length = strcspn(type, ",:");
        if (length < sizeof(word))
            memcpy(word, type, length);
        if (nuioa_word_index(words, word) >= 0)
            return true;
        type += length + strspn(type + length, ",:");
    }
    return false;
}

/* Returns the type of a binding. A type alone, without the binding, is left over from another step
 * in whose ranks the user has unset it. */
static const char *bind_type(char **environment, const char *variable, const char *type)
{
    return nuioa_variable(environment, variable) ? nuioa_variable(environment, type) : NULL;
}

/* The variable is absent or empty with Slurm's defaults. "cores", "threads", "sockets" and "ldoms"
 * do not count: they say how many CPUs a task gets, not which, and also come from --hint and
 * --ntasks-per-core, which a site may set for all users. */
static bool is_bound_by_user(char **environment)
{
    return bind_type_has(bind_type(environment, "SLURM_CPU_BIND", "SLURM_CPU_BIND_TYPE"),
                         "none|rank|rank_ldom|map_cpu|mask_cpu|map_ldom|mask_ldom");
}

static bool is_outer(char **environment, const char *word)
{
    return bind_type_has(nuioa_variable(environment, NUIOA_VARIABLE_OUTER), word);
}

/* Returns the NUMA nodes, as bits, that all masks of a list in hexadecimal have; 0 for another
 * list. */
static uint64_t common_numas(const char *masks)
{
    uint64_t common = masks && *masks ? UINT64_MAX : 0;
    while (masks && *masks) {
        char *end;
        unsigned long long mask = strtoull(masks, &end, 16);
        if (end == masks || (*end && *end != ','))
            return 0;
        common &= mask;
        masks = end + (*end == ',');
    }
    return common;
}

/* Slurm makes "local" of the CPUs that a task has in the end, and "none" leaves memory to the user;
 * the others name NUMA nodes for each local rank, wherever it runs. */
static void read_memory_binding(char **environment, struct step *step)
{
    const char *type = bind_type(environment, "SLURM_MEM_BIND", "SLURM_MEM_BIND_TYPE");
    struct nuioa_request *asked = &step->asked;
    asked->memory_by_rank = bind_type_has(type, "rank|map_mem|mask_mem");
    asked->memory_by_user = asked->memory_by_rank || bind_type_has(type, "none|local");
    asked->memory_by_outer = asked->memory_by_rank && is_outer(environment, "mem");
    if (asked->memory_by_outer && bind_type_has(type, "mask_mem"))
        step->memory_numas = common_numas(nuioa_variable(environment, "SLURM_MEM_BIND_LIST"));
}

/* Gets the number of ranks in a heterogeneous step that come before this component: Slurm counts
 * the tasks of each component from 0, MPI those of the whole step. The variables for the whole step
 * are checked against what Slurm tells about this node. 0 or -ENOENT. */
static int read_first_rank(spank_t spank, const struct step *step, uint32_t *first)
{
    char **environment = step_environment(spank), host[64];
    const char *nodes = nuioa_variable(environment, "SLURM_STEP_NODELIST");
    const char *tasks = nuioa_variable(environment, "SLURM_STEP_TASKS_PER_NODE");
    uint32_t component, here, upto;
    *first = 0;
    if (spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &component) != ESPANK_SUCCESS ||
        nuioa_variable_number(environment, "SLURM_STEP_NUM_TASKS", UINT32_MAX, component) ==
            component)
        return 0;
    int position = nodes && tasks ? hosts_find(nodes, log_host(host, sizeof(host))) : -ENOENT;
    if (position < 0 || (uint32_t)position < step->node_id ||
        hosts_tasks(tasks, (uint32_t)position, &upto, &here) < 0 || here != step->task_count ||
        hosts_tasks(tasks, (uint32_t)position - step->node_id, first, &here) < 0)
        return -ENOENT;
    return 0;
}

static int read_ranks(spank_t spank, struct step *step, struct nuioa_error *err)
{
    uint32_t first;
    if (read_first_rank(spank, step, &first) < 0)
        return nuioa_fail(
            err, -ENOENT,
            "Slurm does not say which ranks of a heterogeneous step run here: they stay "
            "where it put them");
    step->ranks = calloc(step->task_count, sizeof(*step->ranks));
    if (!step->ranks)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < step->task_count; i++) {
        if (spank_get_item(spank, S_JOB_LOCAL_TO_GLOBAL_ID, i, &step->ranks[i]) != ESPANK_SUCCESS)
            return nuioa_fail(err, -ENOENT,
                              "Slurm does not say the rank of task %u: all stay where it put them",
                              i);
        if (step->ranks[i] >= STEP_RANKS_MAX || first >= STEP_RANKS_MAX - step->ranks[i])
            return nuioa_fail(err, -E2BIG,
                              "task %u is rank %" PRIu64 ", more than %u: left to Slurm", i,
                              (uint64_t)first + step->ranks[i], STEP_RANKS_MAX - 1);
        step->ranks[i] += first;
    }
    return 0;
}

/* S_STEP_CPUS_PER_TASK is 1 where the user did not type a number. The variable is set only where
 * he did, for srun, or for the job that the step is in; or for an outer step, which does not count
 * here. */
static uint32_t cpus_typed(char **environment, const struct nuioa_request *asked)
{
    uint32_t cpus = nuioa_variable_number(environment, "SLURM_CPUS_PER_TASK", UINT16_MAX, 0);
    return asked->nested && cpus != asked->cpus_per_task ? 0 : cpus;
}

int step_read(spank_t spank, struct step *step, struct nuioa_error *err)
{
    *step = (struct step){ 0 };
    char **environment = step_environment(spank), *cores = NULL;
    if (spank_get_item(spank, S_JOB_NODEID, &step->node_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &step->task_count) != ESPANK_SUCCESS ||
        !step->task_count)
        return nuioa_fail(err, -ENOENT,
                          "Slurm does not say which tasks run here: they stay where it put them");
    if (step->task_count > STEP_TASKS_MAX)
        return nuioa_fail(err, -E2BIG, "%u tasks on one node, more than %u: left to Slurm",
                          step->task_count, STEP_TASKS_MAX);
    struct nuioa_request *asked = &step->asked;
    if (spank_get_item(spank, S_STEP_CPUS_PER_TASK, &asked->cpus_per_task) != ESPANK_SUCCESS)
        asked->cpus_per_task = 0;
    if (spank_get_item(spank, S_STEP_ALLOC_CORES, &cores) == ESPANK_SUCCESS && cores && *cores)
        step->cores = strdup(cores);
    asked->overlaps = nuioa_variable(environment, NUIOA_VARIABLE_OVERLAP) ||
                      nuioa_variable(environment, "SLURM_OVERLAP");
    asked->threads = nuioa_omp_threads(environment);
    asked->threads_by_user = nuioa_threads_are_placed(environment);
    asked->bound_by_user = is_bound_by_user(environment);
    asked->nested = is_outer(environment, "step");
    asked->bound_by_outer = asked->bound_by_user && is_outer(environment, "cpu");
    asked->cpus_typed = cpus_typed(environment, asked);
    read_memory_binding(environment, step);
    /* Slurm sets the variables for the step's GPUs before it calls any plugin, and those for the
     * GPUs of one task before that task runs. */
    step->gpus = nuioa_gpus_given(environment);
    step->sees_gpu = asked->sees_gpu = step->gpus > NUIOA_GPUS_NONE;
    return read_ranks(spank, step, err);
}

void step_free(struct step *step)
{
    free(step->ranks);
    free(step->cores);
    *step = (struct step){ 0 };
}

int step_cpus(const struct step *step, const struct nuioa_node *node, hwloc_bitmap_t cpus)
{
    hwloc_bitmap_zero(cpus);
    hwloc_bitmap_t cores = step->cores ? hwloc_bitmap_alloc() : NULL;
    if (!cores)
        return -ENOENT;
    int rc = hwloc_bitmap_list_sscanf(cores, step->cores) < 0 ? -ERANGE : 0;
    int last = hwloc_bitmap_last(cores);
    if (last < 0 || (uint32_t)last >= node->core_count)
        rc = -ERANGE;
    for (uint32_t i = 0; i < node->pu_count && !rc; i++)
        if (hwloc_bitmap_isset(cores, node->pus[i].core))
            hwloc_bitmap_set(cpus, node->pus[i].os_index);
    hwloc_bitmap_free(cores);
    return rc;
}
