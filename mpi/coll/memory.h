/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_MEMORY_H
#define NUIOA_MPI_COLL_MEMORY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* All accesses to memory that the ranks of a node share, and all questions to this machine. A
 * simulation (test/sim) replaces this file by its own. `owner` is the rank, in the node's
 * communicator, that owns the shared memory. */

/* COLL_IN copies from private memory to shared memory, COLL_OUT from shared to private, COLL_ACROSS
 * from shared to shared. */
enum coll_direction { COLL_IN, COLL_OUT, COLL_ACROSS };

/* Copies `bytes` bytes. The memory must not overlap. */
void coll_copy(void *to, const void *from, size_t bytes, int owner, enum coll_direction direction);

/* Computes into[i] = shared[i] op into[i] for `count` elements, as MPI_Reduce_local does. Returns
 * an MPI error code. */
int coll_fold(const void *shared, void *into, int count, MPI_Datatype type, MPI_Op op, int owner);

/* A flag only grows. coll_flag_post sets it to `value`. coll_flag_wait returns when it is at least
 * `value`, and waits without a time limit; meanwhile it lets MPI make progress. A rank that sees a
 * value also sees all that was written to memory before this value was posted. */
void coll_flag_post(uint64_t *flag, uint64_t value);
void coll_flag_wait(const uint64_t *flag, uint64_t value);

/* Returns the NUMA node on which this process runs, or -1: not known. Fills distance[count] with
 * the kernel's distances from it to each NUMA node, where 10 is the node itself; 0: not known. */
int coll_numa(uint8_t *distance, size_t count);

/* Returns how many CPUs this process may use, and *lowest, the lowest of them; 0: not known. */
int coll_cpus(int32_t *lowest);

#endif
