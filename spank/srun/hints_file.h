/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_HINTS_FILE_H
#define SPANK_SRUN_HINTS_FILE_H

#include "spank/common/option_sources.h"
#include "spank/srun/srun_context.h"
#include "util/error.h"

/* The value of the option `hints`, where it is a file: srun, sbatch and salloc read it as the user,
 * before anything is allocated. */

/* In init_post_opt of srun: reads the file, and sets the variables that the nodes read
 * (option/option_environment.h): the list of weights, and the file's absolute name if it has more.
 * The ranks of a file or list join context->hints_ranks. In a heterogeneous step the last
 * component's value counts for all, as Slurm has one environment and one value of each flag for
 * them. Returns 0; or negative with *err if srun must end, because a flag names a file that is
 * wrong. A file from elsewhere that is wrong is a line on stderr. */
int hints_file_send(struct srun_context *context, const struct option_sources *sources,
                    struct nuioa_error *err);

/* In init_post_opt of sbatch and salloc: if a flag names a file, makes its name absolute in *flags,
 * because the sruns of the job may run elsewhere. Returns 0; or negative with *err, which has the
 * name that was typed, if the file is wrong. */
int hints_file_export(struct flags *flags, struct nuioa_error *err);

#endif
