/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_TRANSPORTATION_H
#define NUIOA_SLOTS_TRANSPORTATION_H

#include <stdint.h>

/* The transportation problem (F. L. Hitchcock, "The Distribution of a Product from Several Sources
 * to Numerous Localities", 1941): each item goes to one place, each place has room for some items,
 * and the sum of costs is the least possible. Private to the library. */
struct nuioa_transportation {
    uint32_t items, places;
    const int64_t *cost;   /* [items * places], by item; INT64_MAX: the item may not go there */
    const uint32_t *room;  /* [places]: how many items it can take */
    uint64_t cpu_until_us; /* the value of nuioa_cpu_us() past which there is no result; 0: none */
};

/* Sets place_of[items], the caller's array, to the place of each item. It is an exact optimum, and
 * equal input gives an equal result. The sum of all costs but INT64_MAX, and of their negatives,
 * must fit into an int64_t. Returns 0; -ENOSPC if not every item can have a place; -ETIME; or
 * -ENOMEM. After an error place_of is undefined. */
int nuioa_transport(const struct nuioa_transportation *problem, uint32_t *place_of);

#endif
