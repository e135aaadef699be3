/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_ABSENT_H
#define SPANK_REPORT_ABSENT_H

#include <stdint.h>

/* Which nodes of a step have not answered srun. */

/* Notes that `host` has answered, in *answered: a hostlist of libslurm, NULL for none and without
 * memory. It belongs to the process: it is never freed. */
void absent_answered(void **answered, const char *host);

/* Writes the names of the nodes that have not answered, such as "node[2-3]", into `names`, an array
 * of `size` bytes, at least 4; a longer list is cut and ends with "..". `nodes` is the list of the
 * nodes that the step may have, NULL if that is not known. Unless it has exactly the `node_count`
 * nodes of the step, and among them all that have answered, it writes "". */
void absent_names(void *answered, const char *nodes, uint32_t node_count, char *names,
                  uint32_t size);

#endif
