/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_WRITE_H
#define NUIOA_PROFILE_PROFILE_WRITE_H

#include "profile/profile.h"
#include "util/error.h"

/* Writes the format of nuioa. Pairs are in the order of source and target, each is written once.
 * Returns 0, or -errno with *err; the file is incomplete then. */
int nuioa_profile_write(const char *path, const struct nuioa_profile *profile,
                        struct nuioa_error *err);

/* Writes one metric as a square matrix. Returns 0, or -errno with *err; the file is incomplete
 * then. */
int nuioa_profile_write_matrix(const char *path, const struct nuioa_profile *profile,
                               enum nuioa_metric metric, struct nuioa_error *err);

#endif
