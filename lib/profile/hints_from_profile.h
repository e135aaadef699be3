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
 * alone on its node. */

/* Fills list[size]. If the list is too long, it rounds the weights to fewer digits. Returns 0, or
 * negative with *err: -ENOMEM, or -E2BIG if even one digit makes the list too long. */
int nuioa_hints_from_profile(const struct nuioa_profile *profile, enum nuioa_policy policy,
                             char *list, size_t size, struct nuioa_error *err);

/* Fills list[size] with a short list for weight[count]: ranges and strides of equal weights, and
 * the most common weight as "rest". Returns 0, -ENOMEM, or -E2BIG if it is too long. */
int nuioa_hints_from_weights(const double *weight, uint32_t count, char *list, size_t size);

#endif
