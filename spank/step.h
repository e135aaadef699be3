/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEP_H
#define SPANK_STEP_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>

#include "topology/node.h"
#include "util/error.h"
#include "util/gpus.h"

/* The part of a job step that runs on this node, as Slurm describes it to plugins. */

/* The tasks of a step with more tasks on one node stay as Slurm bound them. */
#define STEP_TASKS_MAX 4096

/* So do those of a step with this or a higher rank on the node, because sets of ranks are
 * bitmaps. */
#define STEP_RANKS_MAX (1u << 24)

struct step {
    uint32_t node_id;    /* position of this node in the step, or in its component, from 0 */
    uint32_t task_count; /* on this node */
    uint32_t
        *ranks; /* [task_count], by local rank: ranks over all components of a heterogeneous step */
    uint32_t cpus_per_task; /* 0: not known */
    uint32_t omp_threads;   /* OMP_NUM_THREADS; 0: not set */
    char *cores;            /* Slurm's own core numbers, as a list; NULL: not known */
    bool bound_by_user;     /* the user gave --cpu-bind */
    bool memory_by_user;    /* the user gave --mem-bind */
    enum nuioa_gpus gpus;   /* GPUs of the step on this node */
    bool sees_gpu;          /* `gpus` is known and not none */
    int32_t gpu;            /* the step's only GPU, by Slurm's index; -1: none, several, unknown */
};

/* Returns true if srun launched this step to run the user's program. The batch script and the steps
 * that only hold an allocation are not such steps. Returns false if Slurm does not tell. */
bool step_is_ordinary(spank_t spank);

/* Returns true if the step runs a launcher such as mpirun, which places its own ranks. Returns
 * false if Slurm does not tell the command. */
bool step_is_launcher(spank_t spank);

/* Returns the job's environment, or NULL if there is none. Slurm owns it, and any spank_setenv()
 * makes it invalid. */
char **step_environment(spank_t spank);

/* Reads the step. It must be called in init_post_opt, because Slurm adds its own decisions to the
 * environment later. Returns 0, or negative with *err: -E2BIG if the step is above the limits,
 * -ENOENT if Slurm does not tell enough, or -ENOMEM. The caller calls step_free() in any case. */
int step_read(spank_t spank, struct step *step, struct nuioa_error *err);

/* Frees what *step holds and clears it. */
void step_free(struct step *step);

/* Fills `cpus`, which the caller allocated, with the CPUs (OS indexes) of the step's cores. Slurm
 * numbers cores by position, socket by socket, as hwloc does. Returns 0; -ENOENT if Slurm does not
 * tell the cores; or -ERANGE if their numbers do not fit this node. After an error `cpus` is
 * empty. */
int step_cpus(const struct step *step, const struct nuioa_node *node, hwloc_bitmap_t cpus);

#endif
