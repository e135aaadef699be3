/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_INTERRUPT_AVOID_H
#define NUIOA_PLAN_INTERRUPT_AVOID_H

#include "plan/slot.h"

/* policy=cpu: ranks off the cores that serve interrupts, as far as nobody pays for it. Private
 * to the library.
 *
 * A core of a rank's own that serves interrupts is exchanged for one that the step may use and
 * nobody has: on the same NUMA node, so that memory, NIC and neighbours are as near as before,
 * with as many of its hardware threads for the rank. Whole cores count, since threads share what
 * the kernel takes. */

struct nuioa_avoided {
    uint32_t disturbed; /* ranks that were on such cores */
    uint32_t moved;     /* of these, ranks that have left one */
    uint32_t left;      /* ranks that still are on one: no spare core on their NUMA node */
};

/* Changes slots->cpus, which begin as Slurm's own masks. 0 or -ENOMEM. */
int nuioa_interrupt_avoid(const struct nuioa_request *request, hwloc_const_bitmap_t allowed,
                          struct nuioa_slots *slots, struct nuioa_avoided *avoided);

#endif
