/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_FLAGS_H
#define SPANK_COMMON_FLAGS_H

#include <slurm/spank.h>
#include <stdbool.h>

#include "option/option.h"

/* The --nuioa flags of srun, sbatch and salloc, made from nuioa_option_table. */

#define FLAGS_MAX NUIOA_OPTIONS_MAX

/* The values of the flags that the user typed, by index into nuioa_option_table. They are kept as
 * text, because flags win over the other option sources and are therefore read last. A struct of
 * zeros has no flags. */
struct flags {
    char *typed[FLAGS_MAX]; /* malloc'd, owned by the struct; NULL if the flag was not typed */
    bool lost;              /* a value could not be kept: out of memory */
    bool on_command_line;   /* --nuioa is, and not only in the lines #SBATCH of a script */
    bool merged;            /* typed[0] is made of several --nuioa */
    bool component_over;    /* flags that come now are of a further component of a step or job */
};

/* In slurm_spank_init: registers the flags of all options that users may set. Slurm then calls
 * on_flag(index, value, remote) for each flag that the user typed, where `index` is that of
 * nuioa_option_table, or FLAGS_MAX more than that of nuioa_retired_table. If Slurm refuses a flag,
 * it logs why, and the flag does not exist. */
void flags_register(spank_t spank, spank_opt_cb_f on_flag);

/* Returns the name of the option whose flag is `index`. */
const char *flags_option(int index);

/* Returns the value that counts after flags_join(): the kept one, or that which `value` stands for
 * if none is kept. */
const char *flags_typed(const struct flags *flags, int index, const char *value);

/* Forgets the flag's value. An index outside the table is ignored. */
void flags_drop(struct flags *flags, int index);

/* Keeps a copy of the value that the flag stands for: `value`, but "" for NULL, and "on" for
 * --nuioa itself without one. It replaces an earlier value. An index outside the table is ignored.
 * Without memory the flag counts as not typed, and flags->lost is set. */
void flags_take(struct flags *flags, int index, const char *value);

/* In srun, sbatch and salloc: does the same, but the values of several --nuioa are joined by
 * commas. Those of the command line replace those of the lines #SBATCH, and those of a further
 * component replace earlier ones that exclude them. */
void flags_join(struct flags *flags, int index, const char *value);

/* Frees the values and makes the struct empty. The struct itself belongs to the caller. */
void flags_free(struct flags *flags);

/* In sbatch and salloc: sets, in the environment of this process, the variable SLURM_NUIOA_* of
 * each flag that was typed, because each srun inside the allocation reads these. Slurm itself then
 * hands on no flag: neither to the batch step, nor to each srun inside, where a value would count
 * as typed, and a flag without one would be the text "(null)". */
void flags_export(const struct flags *flags, spank_t spank);

#endif
