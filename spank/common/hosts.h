/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_HOSTS_H
#define SPANK_COMMON_HOSTS_H

#include <stdint.h>

/* Parsers for lists of nodes and of task counts, as Slurm writes them into a step's environment.
 * slurmstepd reads them as root, and the user could have written them; libslurm's parser is not
 * made for that. These functions accept any text, take time proportional to its length, and
 * allocate no memory. */

/* The length in bytes of the longest list of nodes that is read: WIRE_NODES_MAX names of 64
 * characters. */
#define HOSTS_LIST_MAX (4u << 20)

/* Returns the position of `host`, from 0, in a list like "n[1-3,08-11],m7", where a name has at
 * most one pair of brackets, at its end. Returns -ENOENT if it is not in the list, -EINVAL if
 * `list` is no such list, or -E2BIG if the list is longer than HOSTS_LIST_MAX or has more than
 * WIRE_NODES_MAX names. */
int hosts_find(const char *list, const char *host);

/* Reads a list of the numbers of tasks on each node, like "1(x2),3" for nodes with 1, 1 and 3
 * tasks. Sets *before to the number of tasks on all nodes before `position` (from 0), and *there to
 * the number on the node at `position`. Returns 0, or -EINVAL if `list` is no such list, has no
 * such position, or has more than WIRE_NODES_MAX nodes or WIRE_TASKS_MAX tasks on one node up to
 * there; then *before and *there are unchanged. */
int hosts_tasks(const char *list, uint32_t position, uint32_t *before, uint32_t *there);

#endif
