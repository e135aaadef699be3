/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_STEP_LAYOUT_H
#define SPANK_SRUN_STEP_LAYOUT_H

#include <slurm/spank.h>

/* In local_user_init of srun: warns the user if the step was started by srun -m arbitrary with a
 * list of nodes (-w) that has more names than the step has ranks. Slurm 22.05 starts so few, and
 * says nothing, where -N or -n was typed beside a list in a file, or both beside any list. */
void step_layout_check(spank_t spank);

#endif
