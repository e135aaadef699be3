/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_LEADER_H
#define NUIOA_PLAN_LEADER_H

#include <stdint.h>

/* Which local ranks should speak for the node in hierarchical collectives (Goglin & Moreaud, CASS
 * 2011, section 3): those nearest the NIC. */

struct nuioa_candidate {
    uint32_t local; /* local rank */
    uint32_t level; /* to its NIC; UINT32_MAX if unknown */
    uint32_t nic;   /* index of its NIC; UINT32_MAX if none */
    double weight;
};

/* Sorts by level, then heavier first (it is the rank that already feeds the NIC), then local rank.
 * Returns how many share the best level: libraries may rotate among these. */
unsigned nuioa_leader_order(struct nuioa_candidate *candidates, unsigned count);

/* For sorted candidates: the first rank of each NIC in use, in order of NIC; for multi-leader
 * collectives. `locals` has room for `count`. Returns how many. */
unsigned nuioa_leader_rails(const struct nuioa_candidate *candidates, unsigned count,
                            uint32_t *locals);

#endif
