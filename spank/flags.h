/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_FLAGS_H
#define SPANK_FLAGS_H

#include <slurm/spank.h>

#include "plan/option.h"

/* The --nuioa flags of srun, sbatch and salloc, made from nuioa_option_table. */

#define FLAGS_MAX 32

/* What was typed, by index into nuioa_option_table; NULL: not typed. Kept as text, because the
 * other option sources, which come first, can be read only when all flags are known. */
struct flags {
    char *typed[FLAGS_MAX];
};

/* Tells Slurm about the flags. `taken` is called with the table's index for each one that is
 * typed. */
void flags_register(spank_t spank, spank_opt_cb_f taken);

/* Remembers a flag; a later one replaces an earlier one. `value` may be NULL. */
void flags_take(struct flags *flags, int index, const char *value);

void flags_free(struct flags *flags);

/* Turns what was typed to sbatch or salloc into the environment that every srun inside will
 * read, and drops the variables by which Slurm would hand the flags to the batch step only. */
void flags_export(const struct flags *flags);

#endif
