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

/* Copies `bytes` bytes from `from` to `to`, which must not overlap. `owner` and `direction` are for
 * the simulation only. */
void coll_copy(void *to, const void *from, size_t bytes, int owner, enum coll_direction direction);

/* Sets a flag in shared memory to `value`. A flag only grows. A rank that sees a value also sees
 * all that was written to memory before this value was posted. */
void coll_flag_post(uint64_t *flag, uint64_t value);

/* Waits, without a time limit, until the flag is at least `value`; meanwhile it lets MPI make
 * progress. */
void coll_flag_wait(const uint64_t *flag, uint64_t value);

/* Returns the kernel's number of the NUMA node on which this process runs now, or -1 if it is not
 * known. Fills distance[count], by number of NUMA node, with the kernel's distances from that node
 * to each, where 10 is the node itself; 0 if a distance is not known. */
int coll_numa(uint8_t *distance, size_t count);

/* Returns how many CPUs this process may use, and *lowest, the kernel's number of the lowest of
 * them. Returns 0 if they are not known; then *lowest is unchanged. */
int coll_cpus(int32_t *lowest);

#endif
