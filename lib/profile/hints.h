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

/* One item: the ranks first, first + stride, ... up to `last` have this weight. */
struct nuioa_hint {
    uint32_t first, last, stride;
    double weight;
};

struct nuioa_hints {
    unsigned count;
    struct nuioa_hint *items; /* [count], in the order of the list */
    double rest;              /* weight of the ranks that no item mentions */
};

/* Parses `list`, in the form above, which need not be trusted; *hints is overwritten. Returns 0,
 * and the caller frees *hints with nuioa_hints_free; or, with *err, -EINVAL (*err names the wrong
 * item, or says that the list has more than NUIOA_VALUE_MAX bytes) or -ENOMEM, and *hints is
 * empty. */
int nuioa_hints_parse(struct nuioa_hints *hints, const char *list, struct nuioa_error *err);

/* Frees what *hints owns and makes it empty, which it may be already. */
void nuioa_hints_free(struct nuioa_hints *hints);

/* Returns the weight of a global rank: that of the last item that names it, else hints->rest. */
double nuioa_hints_weight(const struct nuioa_hints *hints, uint32_t rank);

/* Returns true if an item names ranks, and none of them is below `count`: in a job of so many ranks
 * it says nothing. *rank is then the lowest rank of the first such item. */
bool nuioa_hints_beyond(const struct nuioa_hints *hints, uint32_t count, uint32_t *rank);

/* Returns the path if `value`, the value of the option `hints`, names a file; it is a part of
 * `value`. Such a value begins with '/', "./" or '@'; '@' is not part of the path. Returns NULL if
 * `value` is a list. */
const char *nuioa_hints_file(const char *value);

/* Parses a list of RANKS such as "4-7,0-39992:8" into the caller's ranks[max], in that order.
 * Returns how many ranks there are; or -EINVAL with *err if the list is wrong or names more than
 * `max`, and ranks[] is then undefined. */
int nuioa_ranks_parse(const char *list, uint32_t *ranks, unsigned max, struct nuioa_error *err);

#endif
