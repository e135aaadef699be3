/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_FORMAT_H
#define NUIOA_PROFILE_PROFILE_FORMAT_H

#include <stdbool.h>

#include "profile/profile.h"
#include "util/error.h"

/* The readers of the formats (profile_text.c, profile_matrix.c, profile_openmpi.c) share this; it
 * is private to profile_*.c. The format's name is that of its file. */

/* The state of reading one file. What it points to is the caller's, except `seen`. */
struct profile_reader {
    const char *path;              /* of the file, for messages */
    unsigned long line;            /* number of the current line */
    enum nuioa_metric metric;      /* matrix: what its numbers are */
    struct nuioa_profile *profile; /* the result, so far */
    struct nuioa_error *err;
    bool headed;  /* text: the first line was read */
    bool *seen;   /* text: [rank_count], true if the rank has had a `rank` line */
    uint32_t row; /* matrix: number of rows read */
    /* [NUIOA_PROFILE_RANKS_MAX], the caller's: only flows of these ranks are kept; NULL: all */
    const bool *wanted;
};

/* A format. `line` reads one line, which is neither blank nor a comment, and may change it;
 * `finish` checks after the last line that the file is complete, and allocates profile->ranks if no
 * line did, and there are ranks. Both return 0, or a negative errno with reader->err. What they
 * allocate is freed with the profile and the reader. */
struct profile_format {
    /* Returns true if the first line that is no comment and not empty is of this format. NULL for
     * profile_text, which is taken when no other format recognises the line. */
    bool (*recognises)(const char *line);
    int (*line)(struct profile_reader *reader, char *line);
    int (*finish)(struct profile_reader *reader);
};

/* The formats; each is defined in the file of the same name. */
extern const struct profile_format profile_text, profile_matrix, profile_openmpi;

/* Sets *rank to that of Open MPI's file, NAME.RANK.prof, and returns true; or returns false if the
 * name has none. */
bool profile_openmpi_rank(const char *path, uint32_t *rank);

/* Sets reader->err to "FILE:LINE: " and a text that is formatted as by printf. Returns -EINVAL,
 * always. */
int profile_fail(const struct profile_reader *reader, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Parses `field` as a number from 0 to NUIOA_PROFILE_NUMBER_MAX. Returns 0 and sets *value, or
 * -EINVAL with reader->err. */
int profile_number(const struct profile_reader *reader, const char *field, double *value);

/* Splits `line`, which is changed, at blanks. Writes its first `max` fields, which point into it,
 * to the caller's fields[max]. Returns how many were written. */
unsigned profile_split(char *line, char **fields, unsigned max);

/* Allocates space for `more` flows behind those of the profile; flow_count stays. Returns 0 or
 * -ENOMEM, and the profile is valid in both cases. */
int profile_make_room(struct nuioa_profile *profile, uint32_t more);

/* Appends a copy of *flow to reader->profile, unless it is of no rank that the reader wants.
 * Returns 0; or, with reader->err, -EINVAL if the profile has NUIOA_PROFILE_FLOWS_MAX flows
 * already, or -ENOMEM. */
int profile_add_flow(struct profile_reader *reader, const struct nuioa_flow *flow);

/* Sets the number of ranks of reader->profile, which has none yet, and allocates their traffic, all
 * zeros. Returns 0; or -ENOMEM with reader->err, and there are none. */
int profile_set_ranks(struct profile_reader *reader, uint32_t rank_count);

#endif
