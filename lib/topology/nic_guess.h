/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_GUESS_H
#define NUIOA_TOPOLOGY_NIC_GUESS_H

#include "topology/node.h"

/* Guesses which NICs of a node with GPUs are for something else than MPI, where nobody says it. A
 * NIC is doubted if it is a BlueField, and at least as many others as GPUs are none; if it is
 * beside no GPU, and each GPU has another NIC beside it, of no worse kind and at least half as
 * fast; or if it is beside no GPU, and its rate is unlike that of at least as many others as GPUs
 * are. "Beside" is behind a switch or on the host bridge of the GPU, where no other NIC is nearer.
 * A NIC is not doubted where some GPU has no other beside it, and none is if all would be.
 *
 * A guess orders NICs that are otherwise equal, and fabrics; it takes no NIC away from anybody. */

/* Sets `doubts`, `role` and `role_source` of all NICs but those of whose role the site says
 * something. `fit` is the caller's [node->nic_count]: the NICs that MPI could use. On a node
 * without GPUs nothing is guessed. It cannot fail. */
void nuioa_nics_guess(struct nuioa_node *node, const bool *fit);

/* Returns true if the NIC is of a network whose messages need not go through the kernel. */
bool nuioa_nic_bypasses_kernel(const struct nuioa_nic *nic);

/* Returns the reason of the doubt, such as "it is a BlueField, ...", a constant text; "" if there
 * is none. Of several reasons it is that which decided the role. */
const char *nuioa_nic_doubt_text(const struct nuioa_nic *nic);

/* Returns true if NIC `nic` is beside GPU `gpu`, indexes into node->nics and node->gpus, among the
 * NICs of `fit`. */
bool nuioa_nic_is_beside(const struct nuioa_node *node, const bool *fit, uint32_t gpu,
                         uint32_t nic);

/* Returns true if the rates differ by at most a tenth: drivers round them differently, FDR
 * InfiniBand is 54.5 or 56 Gb/s. */
bool nuioa_nic_same_rate(uint32_t a_mbps, uint32_t b_mbps);

#endif
