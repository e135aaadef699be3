/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SLICE_H
#define SPANK_RENDEZVOUS_SLICE_H

#include <stddef.h>
#include <stdint.h>

#include "mapping/mapping.h"

/* A node's slice of the profile, as the body of WELCOME has it (wire.h). */

/* Returns the length in bytes of the longest slice for a node with `task_count` tasks. */
size_t slice_max(uint32_t task_count);

/* Reads such a body of `length` bytes, which may be hostile, into weights[task_count], which the
 * caller allocated, and (*pairs)[*pair_count] (malloc'd, caller frees, also after an error).
 * Returns 0; -EPROTO if it is no slice for so many tasks; or -ENOMEM. After an error the weights
 * and pairs are undefined; *pairs was NULL before. */
int slice_read(const void *body, size_t length, uint32_t task_count, double *weights,
               struct nuioa_pair **pairs, uint32_t *pair_count);

#endif
