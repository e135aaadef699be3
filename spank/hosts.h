/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_HOSTS_H
#define SPANK_HOSTS_H

#include <stdint.h>

/* Lists of nodes as Slurm writes them into a step's environment, which is the job user's: root
 * reads them without libslurm, whose parser takes them for Slurm's own. Any text may be given. The
 * time to read one grows with its length alone, and no memory is allocated. */

/* Longer ones are refused: WIRE_NODES_MAX names of 64 characters are as long. */
#define HOSTS_LIST_MAX (4u << 20)

/* Position of `host` in "n[1-3,08-11],m7": a name has at most one pair of brackets, at its end.
 * -ENOENT: not in the list; -EINVAL: not such a list; -E2BIG: too long, or of more than
 * WIRE_NODES_MAX names. */
int hosts_find(const char *list, const char *host);

/* Reads "1(x2),3", tasks of each node, up to `position`: *before are those of the nodes before it,
 * *there those of that node. 0 or -EINVAL, also for more than WIRE_NODES_MAX nodes or
 * WIRE_TASKS_MAX tasks on one. */
int hosts_tasks(const char *list, uint32_t position, uint32_t *before, uint32_t *there);

#endif
