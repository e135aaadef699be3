/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/slurm_compat.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* This function of libslurm is in no header, and not in every release. Slurm binds symbols lazily,
 * so a missing one that is not weak would kill the process at the call. */
extern uint16_t *slurm_get_srun_port_range(void) __attribute__((weak));

bool slurm_compat_port_range(uint16_t *first, uint16_t *last)
{
    const uint16_t *range = slurm_get_srun_port_range ? slurm_get_srun_port_range() : NULL;
    *first = range ? range[0] : 0;
    *last = range ? range[1] : 0;
    return range != NULL;
}

void slurm_compat_unset_flag(const char *name)
{
    char variable[128];
    snprintf(variable, sizeof(variable), "_SLURM_SPANK_OPTION_nuioa_%s", name);
    for (char *c = variable; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    unsetenv(variable);
}
