/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_READ_H
#define NUIOA_PROFILE_PROFILE_READ_H

#include "profile/profile.h"
#include "util/error.h"

/* The format of nuioa:
 *
 *     nuioa-profile 1
 *     ranks 64                              "partial" may follow: messages are missing
 *     rank 0 1048576 524288 16 8 500000     traffic with other nodes: bytes sent, bytes received,
 *                                           messages sent, messages received, bytes received in
 *                                           large messages
 *     pair 0 8 1048576 16 1000000           from rank 0 to rank 8: bytes, messages, bytes in large
 *                                           messages
 *     coll 0 1 8192 2 0                     the same, in a ring that stands for a collective
 *
 * '#' begins a comment; further fields are ignored. Two other formats are read as well:
 *
 * A square matrix, as TreeMatch takes it. Each line is a row; cell j of row i is the traffic from
 * rank i to rank j.
 *
 * Files of Open MPI's monitoring component (NAME.RANK.prof, or a directory of these). Counted are
 * point-to-point messages, those inside collectives included (E, I), puts (S) and gets (R). The C
 * lines count the collectives a second time and are ignored. */

/* The bytes of a file at the most. A larger one is refused. */
#define NUIOA_PROFILE_BYTES_MAX (256L << 20)

enum nuioa_profile_format {
    NUIOA_PROFILE_ANY, /* recognised from the first line */
    NUIOA_PROFILE_TEXT,
    NUIOA_PROFILE_MATRIX,
    NUIOA_PROFILE_OPENMPI,
};

/* Reads one file, or a directory of Open MPI, in any format; *profile is overwritten. The content
 * need not be trusted. Returns 0 and fills *profile, which the caller frees with
 * nuioa_profile_free. Or returns a negative errno with *err, and *profile is empty: -EINVAL if the
 * content is wrong (*err begins with "FILE:LINE: ", or with "FILE: " if something is missing) or
 * `path` is no regular file, -EFBIG if a file is too large, -E2BIG if the files of a directory have
 * too many flows, -ENOMEM, -EIO if reading failed, or that of open. */
int nuioa_profile_read(const char *path, struct nuioa_profile *profile, struct nuioa_error *err);

/* Reads one file in any format, and keeps of its flows only those that one of ranks[count] sends or
 * receives: what nuioa_profile_slice needs for the node with these ranks, in little memory. The
 * slice is the same as that of the whole profile. Lines of other ranks are not all checked. Returns
 * the same as nuioa_profile_read; `path` is no directory (-EINVAL). */
int nuioa_profile_read_part(const char *path, const uint32_t *ranks, uint32_t count,
                            struct nuioa_profile *profile, struct nuioa_error *err);

/* Reads the file `path` of the option `hints` if it has a list of hints (hints.h) and no profile:
 * the items of one list, on one line or several; blanks are the same as commas, and '#' begins a
 * comment. Writes the list with commas to the caller's list[size]; nuioa_hints_parse takes it.
 * Returns 1; 0 if it is not a list, as a directory is none; or a negative errno with *err, and
 * list[] is undefined: -EINVAL if an item is wrong, -EFBIG if the list does not fit, or as
 * nuioa_profile_read. */
int nuioa_profile_list(const char *path, char *list, size_t size, struct nuioa_error *err);

/* Reads the files (or directories) paths[count], all in `format`, and adds them up in *profile.
 * Their numbers of ranks must be equal; files of Open MPI do not give one. `metric` says what the
 * numbers of a matrix are; with NUIOA_METRIC_AVG each is taken as one message of so many bytes.
 * Returns the same as nuioa_profile_read; -E2BIG is for all files together. */
int nuioa_profile_load(const char *const *paths, uint32_t count, enum nuioa_profile_format format,
                       enum nuioa_metric metric, struct nuioa_profile *profile,
                       struct nuioa_error *err);

#endif
