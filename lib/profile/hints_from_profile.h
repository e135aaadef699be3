/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_HINTS_FROM_PROFILE_H
#define NUIOA_PROFILE_HINTS_FROM_PROFILE_H

#include <stdint.h>

#include "profile/profile.h"
#include "topology/policy.h"

/* A profile, which may be megabytes, reduced in srun to a hints list that travels in a variable:
 * one weight for each rank, as if it were alone on its node, because nobody knows the layout
 * yet. */

/* Fills `list`. Digits of the weights are dropped as needed to make it fit; -E2BIG if that does
 * not help. 0, or negative with *err. */
int nuioa_hints_from_profile(const struct nuioa_profile *profile, enum nuioa_policy policy,
                             char *list, size_t size, struct nuioa_error *err);

/* The shortest list found for weight[count]: runs, strides, and the most common weight as "rest".
 * 0, or -E2BIG, -ENOMEM. */
int nuioa_hints_from_weights(const double *weight, uint32_t count, char *list, size_t size);

#endif
