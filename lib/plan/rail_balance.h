/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_RAIL_BALANCE_H
#define NUIOA_PLAN_RAIL_BALANCE_H

#include "plan/slot.h"

/* Several NICs are several times the bandwidth only if the heavy ranks do not sit beside the
 * same one. J of design does not know: it is the same whichever of two equally near NICs a rank
 * uses. Private to the library.
 *
 * Swaps two tasks between slots that are equally far from the NICs, but have other ones nearest,
 * as long as the busier of their cards gets at least a tenth less of the traffic for its rate,
 * and J does not rise. Where no two can be swapped, because that would tear neighbours apart,
 * groups are: the heavy one, and one after the other those who then mind least, as in a pass of
 * Kernighan and Lin (Bell System Technical Journal, 1970), until J is no higher than before.
 *
 * The load is no term of J: it grows with the product of two weights, so that the best trade
 * against distance would need to know how much the network is used, which no profile says.
 *
 * Slots as for nuioa_map, priced; slot_of[task_count] is changed. Returns how many exchanges,
 * or -ENOMEM. */
int nuioa_rail_balance(const struct nuioa_request *request, const struct nuioa_slots *slots,
                       const struct nuioa_rails *rails, uint32_t *slot_of);

#endif
