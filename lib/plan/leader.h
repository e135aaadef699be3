/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_LEADER_H
#define NUIOA_PLAN_LEADER_H

#include <stdbool.h>
#include <stdint.h>

/* The choice of leaders: the local ranks that communicate for their node in hierarchical
 * collectives. Ranks nearest the NIC are best (B. Goglin and S. Moreaud, "Dodging Non-Uniform I/O
 * Access in Hierarchical Collective Operations for Multicore Clusters", CASS 2011, section 3). */

struct nuioa_node;
struct nuioa_options;

struct nuioa_candidate {
    uint32_t local; /* local rank */
    uint32_t level; /* level of distance from its NIC (ranks/assignment.h); UINT32_MAX if unknown */
    double weight;  /* the rank's traffic with other nodes, in any unit: it is only compared */
    uint32_t nic_count;
    const uint32_t *nics; /* [nic_count]: indexes into node->nics, the one it uses most first */
};

/* Sorts candidates[count] in place, the best leader first: by level, then by descending weight (a
 * heavy rank uses the NIC anyway), then by local rank. Returns how many share the best level, 0
 * only if count is 0; a library may use each of these as leader in turn. It cannot fail. */
unsigned nuioa_leader_order(struct nuioa_candidate *candidates, unsigned count);

/* Writes to `locals` local ranks that together lead all NICs in use, for collectives with several
 * leaders: first, in ascending order of the NICs' indexes, the best leader of each NIC that is the
 * first one of a rank; then those of NICs that none of these uses. No rank is written twice.
 * `candidates` are in order, the best leader first, and are not changed; the caller allocates
 * locals[count]. Returns how many were written; 0 if no candidate has a NIC, or if memory is
 * short. */
unsigned nuioa_rail_leaders(const struct nuioa_candidate *candidates, unsigned count,
                            uint32_t *locals);

#endif
