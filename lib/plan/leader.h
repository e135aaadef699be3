/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_LEADER_H
#define NUIOA_PLAN_LEADER_H

#include <stdint.h>

/* The choice of leaders: the local ranks that communicate for their node in hierarchical
 * collectives. Ranks nearest the NIC are best (B. Goglin and S. Moreaud, "Dodging Non-Uniform I/O
 * Access in Hierarchical Collective Operations for Multicore Clusters", CASS 2011, section 3). */

struct nuioa_candidate {
    uint32_t local; /* local rank */
    uint32_t level; /* from its NIC; UINT32_MAX if unknown */
    uint32_t nic;   /* index into node->nics; UINT32_MAX if it has none */
    double weight;
};

/* Sorts the candidates, the best leader first: by level, then by descending weight (a heavy rank
 * uses the NIC anyway), then by local rank. Returns how many share the best level; a library may
 * use each of these as leader in turn. */
unsigned nuioa_leader_order(struct nuioa_candidate *candidates, unsigned count);

/* Writes the best leader of each NIC in use to `locals`, in the order of the NICs, for collectives
 * with several leaders. `candidates` are sorted; the caller allocates locals[count]. Returns how
 * many there are; 0 if memory is short. */
unsigned nuioa_leader_rails(const struct nuioa_candidate *candidates, unsigned count,
                            uint32_t *locals);

#endif
