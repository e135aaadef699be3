/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Shared memory of a simulated node. SMPI runs all ranks in one process, so a shared window is
 * shared as it stands; what it lacks is the time that copies take, and waiting without spinning.
 * Built as a library of its own: SMPI gives each rank its own copy of the program's variables, and
 * what is here must be common. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the calling rank runs. */
int sim_node(void);
int sim_numa(void);

/* The calling rank copies between its own memory and that of NUMA node `bank`: the time it takes,
 * not the bytes. */
void sim_copy_from(int bank, size_t bytes);
void sim_copy_to(int bank, size_t bytes);

/* Sets *flag and wakes who waits for it; waits until *flag is at least `value`. */
void sim_post(uint64_t *flag, uint64_t value);
void sim_wait(const uint64_t *flag, uint64_t value);

/* Memory common to all ranks that give the same key, zeroed at first. Never freed. */
void *sim_common(long key, size_t bytes);

#ifdef __cplusplus
}
#endif
