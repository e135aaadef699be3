/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_ENVIRONMENT_H
#define NUIOA_OUTPUT_ENVIRONMENT_H

#include "plan/plan.h"

/* What a rank finds in its environment. Blocks of "NAME=value" strings, each NUL-terminated, one
 * after the other, the last followed by an empty one: plain data that can be carried in shared
 * memory. */

/* Ours (contract: "A rank's environment"). A value that is not known is absent; one above 4 KB is
 * left out. Returns the bytes used, or -ENOSPC. */
int nuioa_environment(const struct nuioa_plan *plan, const struct nuioa_node *node,
                      const struct nuioa_options *options, uint32_t local, char *env, size_t size);

/* Other programs' variables, by `export`: the caller sets only those that the user did not set, and
 * none for a task that has, or may have, several GPUs, which may need a NIC each. UCX_NET_DEVICES;
 * FI_*; HFI_UNIT; MPICH_OFI_NIC_POLICY; and where `nic` was said NCCL_IB_HCA or NCCL_SOCKET_IFNAME:
 * all NICs that it takes, the same for all ranks of the node. Same form, same return. */
int nuioa_environment_foreign(const struct nuioa_plan *plan, const struct nuioa_node *node,
                              const struct nuioa_options *options, uint32_t local, char *env,
                              size_t size);

/* Likewise, those that place the threads of a rank: OMP_PLACES, with the core nearest the NIC
 * first, and OMP_PROC_BIND; and, when the OpenMP threads leave room near the NIC for the thread
 * that an MPI may run to make progress, where it goes: MPIR_CVAR_PROGRESS_THREAD_AFFINITY (MPICH;
 * src/mpi/init/init_async.c) and I_MPI_ASYNC_PROGRESS_PIN (Intel MPI Developer Reference,
 * "Asynchronous Progress Control"), both a CPU for each local rank and more. Open MPI has none:
 * the only thread that can be pinned there is that of PMIx, which carries no messages.
 * `omp_threads`: as the user said, 0 if he did not.
 *
 * A progress thread polls, so it gets a CPU of its own or stays with the kernel: the core after
 * those that the OpenMP threads take or, if they take them all, the second hardware thread of the
 * nearest. */
int nuioa_environment_threads(const struct nuioa_plan *plan, uint32_t local, uint32_t omp_threads,
                              char *env, size_t size);

/* The names that nuioa_environment may set, ends with NULL: what an outer step left is removed. */
extern const char *const nuioa_environment_names[];

#endif
