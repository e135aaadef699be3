/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_LEADERS_H
#define SPANK_RENDEZVOUS_LEADERS_H

#include <stddef.h>
#include <stdint.h>

/* The table of a step's leaders, a rank for each node in the order of the step's nodes, and its
 * form in a TABLE message. */

/* FNV-1a over the step and the table: in practice equal only for the same table of the same
 * step. */
uint64_t leaders_digest(uint32_t job_id, uint32_t step_id, const uint32_t *leaders, uint32_t count);

/* Makes the body of TABLE. Returns it malloc'd (caller frees) with its *length in bytes, or NULL
 * without memory. */
void *leaders_serialize(uint32_t job_id, uint32_t step_id, const uint32_t *leaders, uint32_t count,
                        size_t *length);

/* Reads such a body, which may be hostile, into leaders[count]. Returns 0; -EINVAL if it is no
 * table of `count` nodes of this step, has a wrong digest, or names a rank twice; or -ENOMEM. */
int leaders_parse(const void *bytes, size_t length, uint32_t job_id, uint32_t step_id,
                  uint32_t *leaders, uint32_t count);

/* The length in bytes of the longest body for `count` nodes. */
size_t leaders_max(uint32_t count);

#endif
