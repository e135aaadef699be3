/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_CORE_H
#define NUIOA_SLOTS_CORE_H

#include "slots/basis.h"

/* Cores of a node, and those that new slots are made of. The PUs of a core follow one another in
 * node->pus. Private to the library. */

/* Returns how many cores have a PU in `cpus` (OS indexes). */
uint32_t nuioa_core_count(const struct nuioa_node *node, hwloc_const_bitmap_t cpus);

/* Returns one more than the index of the last PU of the core that begins with node->pus[first]. */
uint32_t nuioa_core_end(const struct nuioa_node *node, uint32_t first);

/* Sets `whole`, the caller's bitmap, to all PUs of the cores that have a PU in `cpus`; both are OS
 * indexes. Returns 0 or -ENOMEM. */
int nuioa_cores_whole(const struct nuioa_node *node, hwloc_const_bitmap_t cpus,
                      hwloc_bitmap_t whole);

/* A core of which some PUs may be used. */
struct nuioa_core {
    uint32_t index;      /* logical, over the machine */
    uint32_t first, end; /* its PUs are node->pus[first] to node->pus[end - 1] */
    uint32_t pus;        /* how many of them may be used */
    uint32_t level, tie; /* nuioa_rails_nearest and nuioa_rails_tie of these PUs */
    uint32_t package;
    int32_t numa; /* index into node->numas; -1: unknown */
    bool used;    /* some slot has it */
};

/* The cores that slots are made of. */
struct nuioa_core_list {
    const struct nuioa_rails *rails; /* the caller's, and so are the CPUs */
    hwloc_const_bitmap_t allowed;    /* OS indexes of the CPUs that may be used */
    uint32_t count;
    struct nuioa_core *list; /* [count]: the nearest to the rails first; the cores of one NUMA node
                                follow one another */
};

/* Lists the cores that have a PU in `allowed`; none is used. `basis`, whose arena has the arrays,
 * and `allowed` must outlive *cores. Returns 0 or -ENOMEM. */
int nuioa_core_list_make(struct nuioa_core_list *cores, const struct nuioa_basis *basis,
                         hwloc_const_bitmap_t allowed);

/* Adds the first PUs of core `index` that may be used to `cpus`, at most `max` of them, and notes
 * that it is used. */
void nuioa_core_list_take(struct nuioa_core_list *cores, uint32_t index, uint32_t max,
                          hwloc_bitmap_t cpus);

#endif
