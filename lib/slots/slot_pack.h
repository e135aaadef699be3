/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_SLOT_PACK_H
#define NUIOA_SLOTS_SLOT_PACK_H

#include "slots/slot.h"

/* New slots, which Slurm did not make, on the cores nearest the NICs. Private to the library. */

/* Makes a slot for each task, of `cpus` CPUs (PUs), rounded up to whole cores, on cores of
 * `allowed` (OS indexes); *slots is overwritten, and priced. NUMA nodes at level 0 of a
 * rail share the slots evenly; farther ones are filled one after the other. A slot is inside one
 * NUMA node as long as there is room. Returns 0, -ENOMEM, or -ENOSPC if the slots do not fit into
 * `allowed`. */
int nuioa_slots_pack(struct nuioa_slots *slots, const struct nuioa_basis *basis,
                     hwloc_const_bitmap_t allowed, uint32_t cpus);

/* Sets `cpus`, the caller's bitmap, to a slot that is strictly nearer the rails than `like` and has
 * the same shape: as many cores, and as many PUs in each. All three sets are OS indexes. The slot
 * has the nearest possible cores of `allowed`, and stays inside one NUMA node if `like` does.
 * Returns true; or false if there is no such slot or no memory, and the content of `cpus` is
 * undefined then. */
bool nuioa_slot_nearer(const struct nuioa_basis *basis, hwloc_const_bitmap_t allowed,
                       hwloc_const_bitmap_t like, hwloc_bitmap_t cpus);

#endif
