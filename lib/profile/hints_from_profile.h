/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_HINTS_FROM_PROFILE_H
#define NUIOA_PROFILE_HINTS_FROM_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "topology/policy.h"
#include "util/error.h"

/* srun turns a profile, which may have megabytes, into a hints list, which fits into an environment
 * variable. The layout is not known yet, so each rank gets the weight that it would have if it were
 * alone on its node (profile_slice.h has the formula). */

/* Writes the list for a profile to `list`, an array of `size` bytes. If it is too long, the weights
 * are rounded to fewer digits. The profile is only read. Returns 0; or, with *err, -ENOMEM, or
 * -E2BIG if even weights of one digit make the list too long, and the list is then undefined. */
int nuioa_hints_from_profile(const struct nuioa_profile *profile, enum nuioa_policy policy,
                             char *list, size_t size, struct nuioa_error *err);

/* Writes a short list for weight[count], the weights of ranks 0 to count - 1, to `list`, an array
 * of `size` bytes: ranges and strides of equal weights, and the most common weight as "rest".
 * Returns 0; or -ENOMEM, or -E2BIG if it is too long, and the list is then undefined. */
int nuioa_hints_from_weights(const double *weight, uint32_t count, char *list, size_t size);

#endif
