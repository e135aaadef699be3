/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/allocator.h"

/* srun_check_flag() has checked the flags already. Each srun inside the allocation reads the other
 * option sources itself. */
void allocator_init_post_opt(const struct flags *flags, spank_t spank)
{
    flags_export(flags, spank);
}
