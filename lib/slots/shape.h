/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_SHAPE_H
#define NUIOA_SLOTS_SHAPE_H

#include "slots/basis.h"

/* The shape of a set of masks on one NUMA node: which of them share a core, an L2, an L3 or a
 * package, how many cores each has, and how many PUs in each core. Private to the library. */

struct nuioa_shape {
    hwloc_const_bitmap_t like; /* on one NUMA node */
    hwloc_bitmap_t out;        /* the caller's */
};

/* Sets the `out` of masks[count] to PUs of `numa` (an index into node->numas) that have together
 * the shape of their `like`: each core of `like` becomes one core of `numa`, with as many PUs of
 * it, and two cores share an L2, an L3 or a package exactly if they did before. `free_cpus` are the
 * CPUs that may be used, and holds each core with all of its PUs or with none; of several such
 * places one of cores that a rail is attached to (such as those of one L3), and then one with early
 * cores is taken. All sets are OS indexes. Returns 0; -ENOSPC if there is no
 * such place, or if the masks are on several NUMA nodes; or -ENOMEM; after an error each `out` is
 * undefined. */
int nuioa_shape_copy(const struct nuioa_basis *basis, hwloc_const_bitmap_t free_cpus, uint32_t numa,
                     const struct nuioa_shape *masks, uint32_t count);

#endif
