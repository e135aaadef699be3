/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_HINTS_H
#define NUIOA_PROFILE_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* How much each rank communicates off its node, as the user says it:
 *
 *     0:10,1-7:1,rest:0        RANKS:WEIGHT, later items override earlier ones
 *     0-39992:8:10             RANKS may have a stride: ranks 0, 8, 16, ... have weight 10
 *     heavy=0,8                these have weight 1, all others 0; RANKS as above
 *
 * A rank that nothing mentions has weight 0. Weights are finite decimals >= 0 in the C locale; only
 * their ratios matter. At most NUIOA_VALUE_MAX bytes. */

/* The longest value that travels as an option (hints lists). */
#define NUIOA_VALUE_MAX 4096

struct nuioa_hint {
    uint32_t first, last, stride;
    double weight;
};

struct nuioa_hints {
    unsigned count; /* 0: no hints */
    struct nuioa_hint *items;
    double rest;
};

/* Parses a list; hostile input is expected. 0, or -EINVAL with *err naming the item, -ENOMEM.
 * *hints is to be freed with nuioa_hints_free; it is empty after an error. */
int nuioa_hints_parse(struct nuioa_hints *hints, const char *list, struct nuioa_error *err);
void nuioa_hints_free(struct nuioa_hints *hints);

double nuioa_hints_weight(const struct nuioa_hints *hints, uint32_t rank);

/* Whether a hints value names a file: it begins with '/', "./" or '@' (which is dropped). Returns
 * the path inside `value`, or NULL. */
const char *nuioa_hints_file(const char *value);

/* "4-7,0-39992:8" to ranks, in that order, at most `max`. Returns how many, or -EINVAL with
 * *err. */
int nuioa_ranks_parse(const char *list, uint32_t *ranks, unsigned max, struct nuioa_error *err);

#endif
