/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_RAIL_BALANCE_H
#define NUIOA_PLAN_RAIL_BALANCE_H

#include "plan/slot.h"

/* Rail balance exchanges ranks so that all NICs share the traffic. Private to the library.
 *
 * The cost J (mapping/problem.h) does not change when a rank uses another, equally near NIC, so the
 * mappers may leave all heavy ranks near the same one.
 *
 * Two tasks are swapped if their slots are equally far from the nearest NICs, but nearest to
 * different ones; if the more loaded of their cards loses at least a tenth of its load (traffic
 * divided by rate); and if J does not rise. Where every single swap would raise J because it
 * separates neighbours, a group is exchanged: the heavy task first, then each time the pair that
 * raises J least, until J is not higher than before. This is one pass of B. W. Kernighan and S.
 * Lin, "An Efficient Heuristic Procedure for Partitioning Graphs" (Bell System Technical Journal,
 * 1970).
 *
 * The load is not a term of J. Its weight against distance would depend on how busy the network is,
 * which no profile says.
 *
 * `slots` must be priced (nuioa_slots_price, with domains if there are pairs). The caller's
 * slot_of[task_count] must hold a mapping, the slot of each task, and is changed. Returns the
 * number of exchanges, which is 0 with fewer than two rails or if they are not located
 * (plan/rail.h); or -ENOMEM, and slot_of is unchanged. */
int nuioa_rail_balance(const struct nuioa_request *request, const struct nuioa_slots *slots,
                       const struct nuioa_rails *rails, uint32_t *slot_of);

#endif
