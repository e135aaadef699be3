/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEP_H
#define SPANK_STEP_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>

#include "topology/node.h"
#include "util/error.h"
#include "util/gpus.h"

/* What Slurm says of the part of a job step that runs on this node. */

/* More tasks than this on one node are left to Slurm. */
#define STEP_TASKS_MAX 4096

/* Ranks from here on are, too: sets of ranks are bitmaps. */
#define STEP_RANKS_MAX (1u << 24)

struct step {
    uint32_t node_id;       /* counts the step's nodes */
    uint32_t task_count;    /* on this node */
    uint32_t *ranks;        /* [task_count]: global, over all components of a heterogeneous step */
    uint32_t cpus_per_task; /* 0: not known */
    uint32_t omp_threads;   /* OMP_NUM_THREADS; 0: not set */
    char *cores;            /* Slurm's own core numbers, as a list; NULL: not known */
    bool bound_by_user;     /* an explicit --cpu-bind */
    bool memory_by_user;    /* an explicit --mem-bind */
    enum nuioa_gpus gpus;   /* all of the step on this node */
    bool sees_gpu;
    int32_t gpu; /* the step's only GPU, by Slurm's index; -1: none, several, unknown */
};

/* Whether it is a step that srun launched to run the user's program: not the batch script, not the
 * holders of allocations. Cheap. */
bool step_is_ordinary(spank_t spank);

/* Whether it runs a launcher (mpirun and the like), which places its own ranks. */
bool step_is_launcher(spank_t spank);

/* The job's environment; owned by Slurm. NULL: none. */
char **step_environment(spank_t spank);

/* To be called before Slurm puts its own decisions into the environment: in init_post_opt. 0, or
 * negative with *err; free it in either case. */
int step_read(spank_t spank, struct step *step, struct nuioa_error *err);
void step_free(struct step *step);

/* The CPUs (OS indexes) of the step's cores. Slurm numbers cores by position, socket by socket,
 * as hwloc does. -ENOENT: Slurm does not say; -ERANGE: its numbers do not fit this node. */
int step_cpus(const struct step *step, const struct nuioa_node *node, hwloc_bitmap_t cpus);

#endif
