/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_SRUN_H
#define SPANK_SRUN_SRUN_H

#include <slurm/spank.h>

#include "spank/srun/srun_context.h"

/* The hooks in srun. srun itself is not stopped by any of them, with two exceptions, for sbatch and
 * salloc too: a wrong flag, and a hints file that a flag names and that is wrong, print one line
 * and end the process, with the status in SLURM_EXIT_ERROR or 1. */

/* Called for each flag on the command line, also in sbatch and salloc, before anything is
 * allocated: ends the process if `value` is wrong for the flag. If the value asks for help, it
 * prints the help to stdout and ends the process with status 0. Returns false, after one line, if
 * the option or its value has gone: the flag then counts as not typed. `index` is that of
 * flags_register's callback. */
bool srun_check_flag(int index, const char *value);

/* In init_post_opt of sbatch and salloc, before flags_export(): makes the name of a hints file
 * absolute in *flags, or ends the process if the file is wrong. */
void srun_check_hints(struct flags *flags);

/* The hook init_post_opt: reads the options and the hints file into *context, prints warnings about
 * them, and sets the variables that the nodes read in the environment of this process. Slurm calls
 * it once for each component of a heterogeneous job. argv[argc] are the plugin's arguments in
 * plugstack.conf. */
void srun_init_post_opt(struct srun_context *context, int argc, char **argv);

/* The hook local_user_init, when the step is known and no task runs yet: warns of what does not fit
 * the step (the number of ranks in hints, a launcher as program, a value of --nuioa taken for the
 * program), looks at the file of a trace, and starts the collector of the report. */
void srun_user_init(struct srun_context *context, spank_t spank);

/* The hook exit: ends the collector of the report, says if a trace was not written, and frees what
 * the context holds, not the struct itself and not context->flags. */
void srun_exit(struct srun_context *context);

#endif
