/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_FLAGS_H
#define SPANK_FLAGS_H

#include <slurm/spank.h>

#include "plan/option.h"

/* The --nuioa flags of srun, sbatch and salloc, made from nuioa_option_table. */

/* The largest number of rows of nuioa_option_table. flags_register warns if there are more. */
#define FLAGS_MAX 32

/* The flags that the user typed, by index into nuioa_option_table; NULL: not typed. They are kept
 * as text, because flags win over the other option sources and are therefore read last. */
struct flags {
    char *typed[FLAGS_MAX];
};

/* Registers the flags with Slurm, which calls `on_flag` with the index into nuioa_option_table for
 * each flag that the user typed. */
void flags_register(spank_t spank, spank_opt_cb_f on_flag);

/* Keeps a copy of a flag's value; a later one replaces an earlier one. `value` may be NULL. An
 * index outside the table is ignored. */
void flags_take(struct flags *flags, int index, const char *value);

/* Forgets all flags. */
void flags_free(struct flags *flags);

/* In sbatch and salloc: sets the variables that each srun inside the allocation reads, and removes
 * those by which Slurm would hand the flags to the batch step only. */
void flags_export(const struct flags *flags);

#endif
