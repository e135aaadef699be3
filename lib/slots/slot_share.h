/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_SLOT_SHARE_H
#define NUIOA_SLOTS_SLOT_SHARE_H

#include "slots/slot.h"

/* Slots for ranks that share a mask: they divide it. Private to the library. */

/* Makes one slot for each task. Tasks whose masks are equal divide that mask; a task that has its
 * mask alone keeps it. In a divided mask every core, with those of its PUs that are in the mask,
 * belongs to exactly one slot, and the slots differ by one core at most. Where CPUs follow GPUs,
 * and each task can have a fair share of the cores nearest to its GPUs, the tasks of each place
 * divide the cores of that place. The first slots are nearest to the rails, and the
 * first is none of the smallest unless a larger one is farther, or with hints makes another
 * farther. The cores of a slot are near one another: those of one
 * NUMA node follow one another, and a slot ends where a NUMA node ends if its size allows.
 *
 * The slots are priced (nuioa_slots_price). Among slots of one mask the tie tells whether a part of
 * them is nearer to a rail. The slots of a divided mask have a kind of their own.
 *
 * Returns 0; -ENOSPC if a mask has fewer cores than tasks; -EEXIST if masks that are not equal
 * overlap; or -ENOMEM. */
int nuioa_slots_share(struct nuioa_slots *slots, const struct nuioa_basis *basis);

#endif
