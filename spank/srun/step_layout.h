/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_STEP_LAYOUT_H
#define SPANK_SRUN_STEP_LAYOUT_H

#include <slurm/spank.h>
#include <stdbool.h>

/* The order of a step's ranks over nodes, where srun -m arbitrary was told it. Nodes do not know
 * it. All functions are for srun. */

/* In local_user_init of a step that is not heterogeneous, in which nuioa is `on` or reports. Warns
 * the user if the list of nodes (-w) has more names than the step has ranks: Slurm 22.05 starts so
 * few, and says nothing, where -N or -n was typed beside a list in a file, or both beside any list.
 *
 * Where nuioa is on, and the order is not known to be safe (layout/order.h), it switches Open MPI's
 * HAN off in all ranks, and says so, unless the user's environment or arguments decide about HAN.
 * srun does it, so that a node without the plugin does the same: a job in which only some ranks use
 * HAN may hang. With --export=NONE each node does it, by NUIOA_VARIABLE_HAN. */
void step_layout_check(spank_t spank, bool on);

/* In init_post_opt of a heterogeneous step in which nuioa is on, from the second component on: does
 * the same about HAN if any component seems to be arbitrary. What is set later does not reach
 * all components. */
void step_layout_check_components(void);

/* In init_post_opt, also in sbatch and salloc: takes back what an outer srun has set. */
void step_layout_forget_outer(void);

#endif
