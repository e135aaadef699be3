/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_LIBRARY_VARIABLES_H
#define NUIOA_OUTPUT_LIBRARY_VARIABLES_H

#include "plan/plan.h"

/* The variables of other libraries that choose NICs, in the form that environment.h describes.
 * doc/formats.md has the table of them, with their sources. The functions read their input only;
 * the caller does not set variables that the user has set, and sets none for a task whose GPUs are
 * unknown, because each of them may need its own NIC. `local` is below plan->task_count. */

/* Writes the variables that words of the option `export` ask for, such as ucx. They name the rank's
 * own NICs if plan->usable.connected says that every NIC of the node reaches the others' network.
 * Else UCX_NET_DEVICES names all NICs that ranks may use, and variables that take one NIC only are
 * left out: the NIC of one rank need not reach that of another. No variable names a NIC that a
 * guess has chosen, and only those of NCCL name one that is doubted. NCCL_IB_HCA and
 * NCCL_SOCKET_IFNAME are equal for all ranks of the node, and are there only if the user or the
 * site set the option `nic`, and usable.nics is not NULL: it may be, although usable.count is not
 * 0, where the NICs are connected. FI_CXI_DEVICE_NAME, FI_EFA_IFACE, PSM3_NIC and those of NVSHMEM
 * are for ranks whose GPUs are known. Returns as nuioa_environment(). */
int nuioa_library_variables(const struct nuioa_plan *plan, const struct nuioa_node *node,
                            const struct nuioa_options *options, uint32_t local, char *env,
                            size_t size);

/* Why export=auto names no NIC to a rank. */
enum nuioa_auto_why {
    NUIOA_AUTO_SET,         /* it does */
    NUIOA_AUTO_ALONE,       /* a rank alone on its node may start others */
    NUIOA_AUTO_ONE_PORT,    /* ranks may use one port, or none; or this rank has no NIC */
    NUIOA_AUTO_KIND,        /* no InfiniBand or RoCE, and no Slingshot for a rank with GPUs */
    NUIOA_AUTO_GPUS,        /* it is unknown which GPUs the rank has */
    NUIOA_AUTO_DOUBTED,     /* a NIC may be for something else than MPI */
    NUIOA_AUTO_UNCONNECTED, /* it is unknown whether the NICs reach each other */
    NUIOA_AUTO_FEW,         /* the rank has no GPU, and there are fewer ranks than ports */
    NUIOA_AUTO_ALL,         /* nothing is left out */
    NUIOA_AUTO_WHYS
};

/* Decides by the plan alone whether export=auto names NICs to a rank. It must not make any program
 * worse than without, so that all of this holds: ranks may use two or more ports, which are surely
 * one network; none that is named is doubted; the rank is not alone on its node; and it has GPUs
 * that are known to be its own, or the ranks are at least as many as the ports. A rank with GPUs is
 * told their NICs. Another one is told as many as UCX uses by itself, its own and the next nearest,
 * because it may be the only one that communicates. */
enum nuioa_auto_why nuioa_library_auto_why(const struct nuioa_plan *plan,
                                           const struct nuioa_node *node, uint32_t local);

/* Returns the sentence for it, a constant text; "" for NUIOA_AUTO_SET. */
const char *nuioa_auto_why_text(enum nuioa_auto_why why);

/* Writes the variables of export=auto, or an empty block: UCX_NET_DEVICES with UCX_MAX_RNDV_RAILS,
 * or MPICH_OFI_NIC_POLICY=GPU; none that a word of `export` asks for. The caller sets them only if
 * nuioa_library_is_free() agrees (library_choice.h). Returns as nuioa_environment(). */
int nuioa_library_auto(const struct nuioa_plan *plan, const struct nuioa_node *node,
                       const struct nuioa_options *options, uint32_t local, char *env, size_t size);

#endif
