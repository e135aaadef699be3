/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_OTHER_LAUNCHER_H
#define SPANK_COMMON_OTHER_LAUNCHER_H

#include <stdbool.h>

/* Jobs whose ranks are started by mpirun and the like, and not by srun: the plugin never sees these
 * ranks. The daemons of mpirun are steps of srun on other nodes only, and Open MPI throws away what
 * is printed there, so that the script itself is read: as the user, and for this one line. */

/* Returns true if `environment` ("NAME=VALUE" strings, ended by NULL; may be NULL) asks for nuioa:
 * sbatch and salloc --nuioa set SLURM_NUIOA there. */
bool other_launcher_is_asked(char *const *environment);

/* Prints one line that says what to type, if `script`, a shell script or the words of a command,
 * names such a launcher, and nuioa exec nowhere. The text is changed. */
void other_launcher_advise(char *script);

#endif
