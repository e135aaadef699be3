/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_LEADERS_H
#define SPANK_RENDEZVOUS_LEADERS_H

#include <stddef.h>
#include <stdint.h>

/* The job-wide table: the leader (a rank) of each node of a step, in the step's order. */

/* Of a table and the step it belongs to: equal only for the same table of the same step. */
uint64_t leaders_digest(uint32_t job_id, uint32_t step_id, const uint32_t *leaders, uint32_t count);

/* The body of WIRE_TABLE: malloc'd, caller frees. NULL without memory. */
void *leaders_pack(uint32_t job_id, uint32_t step_id, const uint32_t *leaders, uint32_t count,
                   size_t *length);

/* Reads such a body; hostile input is expected. Fills leaders[count]. 0, or -EINVAL: not a table of
 * `count` nodes of this step, its digest is wrong, or it names a rank twice. -ENOMEM. */
int leaders_unpack(const void *bytes, size_t length, uint32_t job_id, uint32_t step_id,
                   uint32_t *leaders, uint32_t count);

/* The longest body for `count` nodes. */
size_t leaders_max(uint32_t count);

#endif
