/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_FLOWS_ANSWER_H
#define SPANK_STEPD_FLOWS_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "mapping/problem.h"
#include "topology/policy.h"

/* The answer of the child that reads a hints file as the job's user (flows.h), through a pipe: the
 * part of the profile that concerns the ranks of this node. slurmstepd reads it as root, and the
 * child is a process of the user's. */

/* This node's part of a profile, which counts instead of the hints if there is one. */
struct profile_part {
    double *weights;          /* [task_count]; NULL: there is none */
    struct nuioa_pair *pairs; /* [pair_count]: bytes that two ranks exchange */
    uint32_t pair_count;
};

/* More pairs than this no answer has. */
#define FLOWS_PAIRS_MAX (1u << 20)

/* In the child: reads the file `path` for the global ranks[task_count], and returns the answer
 * (malloc'd, caller frees) with its length. Of a file that cannot be used, or too many pairs, the
 * answer is why. Returns NULL without memory. */
void *flows_answer_make(const char *path, enum nuioa_policy policy, const uint32_t *ranks,
                        uint32_t task_count, size_t *length);

/* Returns the length in bytes of the longest answer for a node with `task_count` tasks. */
size_t flows_answer_max(uint32_t task_count);

/* In slurmstepd: reads an answer of `length` bytes, which may be hostile. Returns 0 and *part, of
 * which the caller frees weights and pairs with free(); or what the child has said, a negative
 * errno; -EPROTO if the answer is none for so many tasks; or -ENOMEM. After an error *part is all
 * zeros. */
int flows_answer_read(const void *answer, size_t length, uint32_t task_count,
                      struct profile_part *part);

/* Returns why there is no answer that can be used, for people: `rc` is what the child, the wait for
 * it, or flows_answer_read returned. */
const char *flows_answer_reason(int rc);

#endif
