/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SLURMD_H
#define SPANK_SLURMD_H

/* The hook in slurmd, when it starts: has the cache of this node's description filled in the
 * background, and logs what is wrong in plugstack.conf. argc and argv are those of plugstack.conf.
 * It returns at once and cannot fail. */
void slurmd_init(int argc, char **argv);

#endif
