/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SLURMD_H
#define SPANK_SLURMD_H

/* The hook slurm_spank_init in slurmd, when it starts: forks a process that fills the cache of this
 * node's description (topology/cache.h) in the background, and writes what is wrong in
 * plugstack.conf to slurmd.log. argv[argc] are the plugin's arguments in plugstack.conf. It returns
 * at once. The cache stays as it is if the process cannot be started or fails, and with the option
 * topology. */
void slurmd_init(int argc, char **argv);

#endif
