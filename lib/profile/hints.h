/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_HINTS_H
#define NUIOA_PROFILE_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* Hints are the user's estimate of how much each rank communicates with other nodes:
 *
 *     0:10,1-7:1,rest:0        RANKS:WEIGHT; later items override earlier ones
 *     0-39992:8:10             RANKS may have a stride: ranks 0, 8, 16, ... have weight 10
 *     heavy=0,8                these ranks have weight 1, all others 0; RANKS as above
 *
 * A rank that is not mentioned has weight 0. Weights are finite decimals >= 0 in the C locale; only
 * their ratios matter. */

/* The maximal length of an option's value, and so of a hints list, in bytes. */
#define NUIOA_VALUE_MAX 4096

struct nuioa_hint {
    uint32_t first, last, stride;
    double weight;
};

struct nuioa_hints {
    unsigned count; /* 0: no hints */
    struct nuioa_hint *items;
    double rest; /* weight of the ranks that no item mentions */
};

/* Parses a list, which need not be trusted. Returns 0, -ENOMEM, or -EINVAL; *err names the wrong
 * item. The caller frees *hints with nuioa_hints_free; it is empty after an error. */
int nuioa_hints_parse(struct nuioa_hints *hints, const char *list, struct nuioa_error *err);

/* Frees what the hints hold and empties them. */
void nuioa_hints_free(struct nuioa_hints *hints);

/* Returns the weight of a rank. */
double nuioa_hints_weight(const struct nuioa_hints *hints, uint32_t rank);

/* Returns the path inside `value` if a hints value names a file, else NULL. Such a value begins
 * with '/', "./" or '@'; '@' is not part of the path. */
const char *nuioa_hints_file(const char *value);

/* Parses RANKS such as "4-7,0-39992:8" into ranks[], in that order, at most `max`. Returns their
 * number, or -EINVAL with *err. */
int nuioa_ranks_parse(const char *list, uint32_t *ranks, unsigned max, struct nuioa_error *err);

#endif
