/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_INTERRUPT_AVOID_H
#define NUIOA_PLAN_INTERRUPT_AVOID_H

#include "plan/slot.h"

/* policy=cpu: moves ranks off the cores that serve interrupts, where that costs nothing. Private to
 * the library.
 *
 * A rank gives up a core that serves interrupts and gets a spare one: a core that serves none, that
 * the step may use, and that no rank has. The spare core is on the same NUMA node, so memory and
 * NIC stay as near as before, if possible under the same L3, and it has at least as many hardware
 * threads for the rank. Whole cores are
 * exchanged, because an interrupt on one hardware thread slows the other ones of its core. */

struct nuioa_avoided {
    uint32_t disturbed; /* ranks that had cores that serve interrupts */
    uint32_t moved;     /* disturbed ranks that gave up such a core */
};

/* Changes slots->cpus, which must be the masks that Slurm gave (nuioa_slots_keep), and sets
 * *avoided. The CPUs that serve interrupts are request->interrupt_cpus, which must not be NULL;
 * `allowed` are the CPUs that the step may use (OS indexes). The prices of the slots are not
 * computed again: call nuioa_slots_price. Returns 0; or -ENOMEM, and some slots may have been
 * changed. */
int nuioa_interrupt_avoid(const struct nuioa_request *request, hwloc_const_bitmap_t allowed,
                          struct nuioa_slots *slots, struct nuioa_avoided *avoided);

#endif
