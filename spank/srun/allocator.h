/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_ALLOCATOR_H
#define SPANK_SRUN_ALLOCATOR_H

#include "spank/common/flags.h"

/* The hook init_post_opt in sbatch and salloc: exports the flags that the user typed, as
 * flags_export() does, to each srun inside the allocation. It cannot fail, and keeps no pointer to
 * `flags`. */
void allocator_init_post_opt(const struct flags *flags, spank_t spank);

#endif
