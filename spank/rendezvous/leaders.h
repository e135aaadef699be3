/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_LEADERS_H
#define SPANK_RENDEZVOUS_LEADERS_H

#include <stddef.h>
#include <stdint.h>

/* The table of a step's leaders: leaders[count] has the global rank of each node's leader, in the
 * order of the step's nodes. These functions also make and read its form in the body of a TABLE
 * message (wire.h). */

/* Returns a 64-bit FNV-1a hash of the step and the table, which is in practice equal only for the
 * same table of the same step. */
uint64_t leaders_digest(uint32_t job_id, uint32_t step_id, const uint32_t *leaders, uint32_t count);

/* Returns the body of TABLE (malloc'd, caller frees) and its *length in bytes; or NULL without
 * memory, and *length is unchanged. */
void *leaders_serialize(uint32_t job_id, uint32_t step_id, const uint32_t *leaders, uint32_t count,
                        size_t *length);

/* Reads such a body of `length` bytes, which may be hostile, into leaders[count], which the caller
 * allocated. Returns 0; -EINVAL if it is no table of `count` nodes of this step, has a wrong
 * digest, or names a rank twice; or -ENOMEM. After an error leaders[] is undefined. */
int leaders_parse(const void *bytes, size_t length, uint32_t job_id, uint32_t step_id,
                  uint32_t *leaders, uint32_t count);

/* Returns the length in bytes of the longest body for `count` nodes. */
size_t leaders_max(uint32_t count);

#endif
