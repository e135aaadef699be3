/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_SALLOC_H
#define SPANK_SRUN_SALLOC_H

/* In init_post_opt of salloc --nuioa, after flags_export: says what to type for mpirun, if its
 * command is one, or the user's shell. sbatch says nothing: its batch step does. */
void salloc_advise(void);

#endif
