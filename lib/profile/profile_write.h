/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_WRITE_H
#define NUIOA_PROFILE_PROFILE_WRITE_H

#include "profile/profile.h"
#include "util/error.h"

/* Both functions write the file `path` anew, in one step (util/new_file.h); the profile is only
 * read. They return 0; or a negative errno with *err (-ENOMEM, -EPERM if `path` is no regular file,
 * or that of writing, such as -ENOSPC), and an older file is still there. */

/* Writes the format of nuioa (profile_read.h). Pairs are in the order of source and target, each is
 * written once, and once more for its collectives. */
int nuioa_profile_write(const char *path, const struct nuioa_profile *profile,
                        struct nuioa_error *err);

/* Ranks of a matrix at the most: of more it would have gigabytes. */
#define NUIOA_PROFILE_MATRIX_MAX 16384

/* Writes one metric as a square matrix, a line for each row: cell j of row i is the traffic from
 * rank i to rank j, in collectives or not. Of more ranks than fit it returns -EINVAL. */
int nuioa_profile_write_matrix(const char *path, const struct nuioa_profile *profile,
                               enum nuioa_metric metric, struct nuioa_error *err);

#endif
