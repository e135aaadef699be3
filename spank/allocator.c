/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/context.h"

/* Flags were checked when they were typed. The other option sources are read by each srun
 * inside. */
void allocator_init_post_opt(const struct flags *flags)
{
    flags_export(flags);
}
