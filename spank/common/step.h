/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_STEP_H
#define SPANK_COMMON_STEP_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>

#include "ranks/request.h"
#include "topology/gpu_count.h"
#include "topology/node.h"
#include "util/error.h"

/* The part of a job step that runs on this node, as Slurm describes it to plugins. */

/* The largest number of tasks on one node that are placed. In a step with more tasks on the node
 * all stay as Slurm bound them. */
#define STEP_TASKS_MAX 4096

/* Global ranks are below this number, because sets of ranks are bitmaps. In a step with a higher
 * rank on the node all tasks stay as Slurm bound them. */
#define STEP_RANKS_MAX (1u << 24)

struct step {
    uint32_t node_id;    /* position of this node in the step, or in its component, from 0 */
    uint32_t task_count; /* number of tasks on this node */
    /* ranks[task_count], by local rank: the global ranks, which count over all components of a
     * heterogeneous step */
    uint32_t *ranks;
    char *cores;           /* a list of Slurm's own core numbers, such as "0-3"; NULL: not known */
    uint64_t memory_numas; /* asked.memory_by_outer: bits of NUMA nodes in all masks, below 64 */
    enum nuioa_gpus gpus;  /* how many GPUs the step has on this node */
    bool sees_gpu;         /* `gpus` is known and not none */
    /* What the user asked for: cpus_per_task (0: not known), cpus_typed and threads; bound_*,
     * memory_*, nested, threads_by_user, overlaps and sees_gpu. The rest is zeros. */
    struct nuioa_request asked;
};

/* Returns true if srun launched this step to run the user's program. The batch script and the steps
 * that only hold an allocation are not such steps. Returns false if Slurm does not tell. */
bool step_is_ordinary(spank_t spank);

/* Returns the command of the step, which Slurm owns; NULL if Slurm does not tell. */
const char *step_program(spank_t spank);

/* Returns true if the step runs a launcher such as mpirun, which places its own ranks. Returns
 * false if Slurm does not tell the command. */
bool step_is_launcher(spank_t spank);

/* Returns the job's environment, "NAME=VALUE" strings ended by NULL; or NULL if there is none.
 * Slurm owns it, and any spank_setenv() or spank_unsetenv() makes it invalid. */
char **step_environment(spank_t spank);

/* In slurmstepd: fills *step, which need not be initialised. It must be called in init_post_opt,
 * because Slurm adds its own decisions to the environment later. Returns 0; or negative with *err:
 * -E2BIG if the step is above the limits, -ENOENT if Slurm does not tell enough, or -ENOMEM. The
 * caller calls step_free() in any case. */
int step_read(spank_t spank, struct step *step, struct nuioa_error *err);

/* Frees what *step holds and makes it empty. The struct itself belongs to the caller. */
void step_free(struct step *step);

/* Fills `cpus`, which the caller allocated, with the CPUs (OS indexes) of the step's cores. Slurm
 * numbers cores by position, socket by socket, as hwloc does. Returns 0; -ENOENT if Slurm does not
 * tell the cores, or if memory is short; or -ERANGE if a core's number does not fit this node.
 * After an error `cpus` is empty. */
int step_cpus(const struct step *step, const struct nuioa_node *node, hwloc_bitmap_t cpus);

#endif
