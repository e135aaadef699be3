/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_H
#define SPANK_SRUN_H

#include <slurm/spank.h>

#include "spank/srun_context.h"

/* The hooks in srun. srun itself is not stopped by any of them, with two exceptions: a wrong flag,
 * and a hints file that a flag names and that is wrong, print one line and end the process. */

/* Called for each flag as it is typed, also in sbatch and salloc, before anything is allocated:
 * ends the process if `value` is wrong for the option nuioa_option_table[index], or after it has
 * printed the help that was asked for. */
void srun_check_flag(int index, const char *value);

/* Reads the options, prints their warnings and sets the variables that the nodes read. Slurm calls
 * it once for each component of a heterogeneous job. argc and argv are those of plugstack.conf. */
void srun_init_post_opt(struct srun_context *context, int argc, char **argv);

/* The step is known, and no task runs yet: compares the hints file with the number of ranks and
 * starts the rendezvous. */
void srun_user_init(struct srun_context *context, spank_t spank);

/* Ends the rendezvous and frees what the context holds. */
void srun_exit(struct srun_context *context);

#endif
