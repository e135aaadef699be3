/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_LIBRARY_VARIABLES_H
#define NUIOA_OUTPUT_LIBRARY_VARIABLES_H

#include "plan/plan.h"

/* Writes the variables of other programs that choose NICs, as the option `export` says, in the
 * form that environment.h describes. doc/formats.md has the table of them, with their sources.
 * They name the rank's own NICs if plan->usable.connected says that every NIC of the node reaches
 * the others' network. Else UCX_NET_DEVICES names all NICs that ranks may use, and variables that
 * take one NIC only are left out: the NIC of one rank need not reach that of another. If
 * plan->usable.guessed or .doubted says that a guess has chosen its NIC, no variable names any.
 * NCCL_IB_HCA and NCCL_SOCKET_IFNAME are equal for all ranks of the node, and are there only if the
 * user or the site set the option `nic`. FI_CXI_DEVICE_NAME, PSM3_NIC and those of NVSHMEM are for
 * ranks whose GPUs are known. The caller does not set variables that the user has set, and sets
 * none for a task whose GPUs are unknown, because each of them may need its own NIC. */
int nuioa_library_variables(const struct nuioa_plan *plan, const struct nuioa_node *node,
                            const struct nuioa_options *options, uint32_t local, char *env,
                            size_t size);

#endif
