/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_ENVIRONMENT_H
#define NUIOA_OUTPUT_ENVIRONMENT_H

#include "plan/plan.h"

/* The environment variables of a rank.
 *
 * All functions write a block of "NAME=value" strings to the caller's `env`. Each string ends with
 * a NUL byte, and an empty string ends the block, so that shared memory can carry it. They return
 * the number of bytes used, with those of the empty string; or -ENOSPC if the block does not fit
 * into `size` bytes, and it then ends before the first entry that did not fit. An entry of 4096
 * bytes or more is left out. `local` is the local rank, below plan->task_count. `node` and
 * `options` are those that the plan was made with. */

/* Writes the variables of nuioa, which doc/formats.md lists. A variable whose value is unknown is
 * left out. The block is empty unless `export` has env. */
int nuioa_environment(const struct nuioa_plan *plan, const struct nuioa_node *node,
                      const struct nuioa_options *options, uint32_t local, char *env, size_t size);

/* Writes those of nuioa's variables that depend on the NICs of a rank: NUIOA_NIC, NUIOA_NICS,
 * NUIOA_GPUS and NUIOA_LEVEL, as nuioa_environment() would. Of *assignment it reads the NICs, the
 * GPUs and the level only. */
int nuioa_environment_nics(const struct nuioa_assignment *assignment, const struct nuioa_node *node,
                           const struct nuioa_options *options, char *env, size_t size);

/* Writes the variables of other programs that bind the threads of a rank: OMP_PLACES, with the core
 * nearest the NIC first, and OMP_PROC_BIND. The block is empty unless plan->binds_threads: libgomp
 * binds the first thread of each program that it is loaded into, and all that this forks, so that
 * somebody must have said that it is right. It is also empty if the rank has no OMP places, or if
 * their text has 4096 bytes or more. `omp_threads` is the number of OpenMP threads that the
 * user set, 0 if none was set.
 *
 * If the OpenMP threads leave a CPU near the NIC, the thread by which an MPI library makes progress
 * gets it, because it polls: the core after those of the OpenMP threads, or the second nearest one
 * if these spread; or, if they use all cores, the last hardware thread of the nearest core. The
 * variables are MPIR_CVAR_PROGRESS_THREAD_AFFINITY (MPICH, src/mpi/init/init_async.c) and
 * I_MPI_ASYNC_PROGRESS_PIN (Intel MPI Developer Reference, "Asynchronous Progress Control"); each
 * has a CPU for every local rank, and more. Both are left out if `omp_threads` is 0, if a rank of
 * the node has no CPU left, or if the list is too long. Open MPI can pin only the thread of PMIx,
 * which carries no messages. */
int nuioa_environment_threads(const struct nuioa_plan *plan, uint32_t local, uint32_t omp_threads,
                              char *env, size_t size);

/* These are the names of all variables of nuioa; the last entry is "". Before a rank starts, the
 * caller removes them, because an outer step may have left them. */
extern const char nuioa_environment_names[][16];

#endif
