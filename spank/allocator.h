/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_ALLOCATOR_H
#define SPANK_ALLOCATOR_H

#include "spank/flags.h"

/* The hook in sbatch and salloc: exports the flags to each srun inside the allocation. */
void allocator_init_post_opt(const struct flags *flags);

#endif
