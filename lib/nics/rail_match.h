/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_NICS_RAIL_MATCH_H
#define NUIOA_NICS_RAIL_MATCH_H

#include <stdint.h>

/* A semi-matching: each user gets one of the machines that it may use, so that the most loaded
 * machines have as little load as possible. Private to the library.
 *
 * N. J. A. Harvey, R. E. Ladner, L. Lovasz and T. Tamir, "Semi-matchings for bipartite graphs and
 * load balancing" (WADS 2003): users are added one by one, each along an alternating path to the
 * least loaded machine that can be reached. The result is optimal for users of equal weight on
 * machines of equal rate. */

#define NUIOA_NO_MACHINE UINT32_MAX

struct nuioa_rail_match {
    uint32_t user_count;
    uint32_t machine_count;
    /* [user_count * machine_count]: 0 if the user may not use the machine, 1 if it may; or 2 for a
     * part of these machines, to which each user with one is kept if no machine is more loaded by
     * that than it must be */
    uint8_t *fit;
    double *weight;     /* [user_count]: above 0, the load that the user makes */
    const double *rate; /* [machine_count]: above 0, in any unit; loads are compared by rate */
    double *load;       /* [machine_count]: of others; the weights of the users are added */
    /* [user_count]: the machine that each user takes among equally loaded ones; NUIOA_NO_MACHINE,
     * or NULL for all: the first of them */
    uint32_t *preferred;
    uint32_t *machine_of; /* [user_count]: the result; NUIOA_NO_MACHINE where none is allowed */
};

/* Sets machine_of and adds to `load`. All arrays are the caller's; those of `fit` are changed.
 * Users are added in the order of their numbers. Where the resulting load is equal, a user gets the
 * machine that it prefers or the first, and earlier users keep theirs. The work is limited: past
 * about two million steps (thousands of users, each with few machines) users are added without
 * looking for alternating paths. Returns 0; or -ENOMEM, and the result is undefined. */
int nuioa_rail_match(struct nuioa_rail_match *match);

#endif
