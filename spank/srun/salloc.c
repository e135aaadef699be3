/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/salloc.h"

#include <stdlib.h>
#include <unistd.h>

#include "spank/common/other_launcher.h"
#include "spank/common/slurm_compat.h"

void salloc_advise(void)
{
    char shell[] = "mpirun";
    char *command = other_launcher_is_asked(environ) ? slurm_compat_salloc_command() : NULL;
    if (command)
        other_launcher_advise(*command ? command : shell);
    free(command);
}
