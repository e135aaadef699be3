/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_HOSTS_H
#define SPANK_HOSTS_H

#include <stdint.h>

/* Parsers for lists of nodes and of task counts, as Slurm writes them into a step's environment.
 * slurmstepd reads them as root, and the user could have written them; libslurm's parser is not
 * made for that. These functions accept any text, take time proportional to its length, and
 * allocate no memory. */

/* Longer lists, in bytes, are refused. WIRE_NODES_MAX names of 64 characters have this length. */
#define HOSTS_LIST_MAX (4u << 20)

/* Returns the position of `host`, from 0, in a list like "n[1-3,08-11],m7", where a name has at
 * most one pair of brackets, at its end. -ENOENT: it is not in the list; -EINVAL: `list` is no such
 * list; -E2BIG: it is too long or has more than WIRE_NODES_MAX names. */
int hosts_find(const char *list, const char *host);

/* Reads the numbers of tasks on each node from a list like "1(x2),3": *before gets the tasks on all
 * nodes before `position`, *there those on the node at `position`. Returns 0, or -EINVAL if it is
 * no such list, has no such position, or has more than WIRE_NODES_MAX nodes or WIRE_TASKS_MAX tasks
 * on one node up to there. */
int hosts_tasks(const char *list, uint32_t position, uint32_t *before, uint32_t *there);

#endif
