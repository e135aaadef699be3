/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_PLACE_H
#define TEST_HOOKS_PLACE_H

#include <sched.h>
#include <stdbool.h>

/* The nodes that the launches run on: this machine's CPUs, as if they were two NUMA nodes with a
 * NIC at the second one. */

/* Makes everything in the directory stand_in_directory. Returns false with a text on stderr. */
bool place_make(void);
void place_remove(void);

/* Writes the nodes' caches anew: a launch that cannot read its node's cache replaces it by what
 * this machine is like. Returns false with a text on stderr. */
bool place_put_caches(void);

/* How many CPUs the nodes have, and the CPU with this index. */
unsigned place_cpu_count(void);
unsigned place_cpu(unsigned index);

/* Writes "0,3" for a set. */
void place_cpus_text(const cpu_set_t *set, char *text, unsigned size);

#endif
