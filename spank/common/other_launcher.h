/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_OTHER_LAUNCHER_H
#define SPANK_COMMON_OTHER_LAUNCHER_H

#include <slurm/spank.h>

/* Jobs whose ranks are started by mpirun and the like, and not by srun: the plugin never sees these
 * ranks. The daemons of mpirun are steps of srun on other nodes only, and Open MPI throws away what
 * is printed there, so that the script itself is read: as the user, and for this one line. */

/* Both functions print one line that says what to type, if --nuioa was given to sbatch or salloc,
 * and a launcher is named, and nuioa exec nowhere. */

/* In init_post_opt of salloc, after flags_export: looks at its command. If that is the user's
 * shell, mpirun is what he would type. sbatch says nothing: its batch step does. */
void other_launcher_in_salloc(void);

/* In the batch step of a job, before its script begins, as the user: reads the script. It does
 * nothing in other steps. */
void other_launcher_in_batch(spank_t spank);

#endif
