/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_MEMORY_H
#define NUIOA_MPI_COLL_MEMORY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* All that is done with memory shared by the ranks of a node, and all that is asked of this
 * machine: what a simulation replaces by its own. `owner` is the rank, in the node's communicator,
 * whose memory the shared side is. */

enum coll_direction { COLL_IN, COLL_OUT, COLL_ACROSS }; /* private to shared, back, both shared */

void coll_copy(void *to, const void *from, size_t bytes, int owner, enum coll_direction direction);

/* MPI_Reduce_local from a shared operand into `into`. */
int coll_fold(const void *shared, void *into, int count, MPI_Datatype type, MPI_Op op, int owner);

/* Flags only grow. Who sees a value also sees what was written before it was posted. */
void coll_flag_post(uint64_t *flag, uint64_t value);
void coll_flag_wait(const uint64_t *flag, uint64_t value); /* until it is at least `value` */

/* The NUMA node this process runs on; -1: not known. And how far others are from it, as the kernel
 * says (10: itself), by their number; 0: not known. */
int coll_numa(uint8_t *distance, size_t count);

/* How many CPUs this process may use, and the lowest of them; 0: not known. */
int coll_cpus(int32_t *lowest);

#endif
