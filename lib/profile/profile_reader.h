/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_READER_H
#define NUIOA_PROFILE_PROFILE_READER_H

#include <stdbool.h>

#include "profile/profile.h"
#include "util/error.h"

/* The readers of the formats share this; it is private to profile_*.c. */

/* The state of reading one file. */
struct profile_reader {
    const char *path;
    unsigned long line; /* number of the current line */
    enum nuioa_metric metric;
    struct nuioa_profile *profile;
    struct nuioa_error *err;
    bool headed;  /* text: the first line was read */
    bool *seen;   /* text: [rank_count], whether the rank has had a `rank` line */
    uint32_t row; /* matrix: number of rows read */
};

/* A format. `line` reads one line and may change it; `finish` checks after the last line that the
 * file is complete, and allocates profile->ranks if no line did. Both return 0 or a negative error
 * with reader->err. */
struct profile_format {
    bool (*recognises)(const char *line); /* `line`: the first that is neither comment nor empty */
    int (*line)(struct profile_reader *reader, char *line);
    int (*finish)(struct profile_reader *reader);
};

/* Each is defined in the file of the same name. */
extern const struct profile_format profile_text, profile_matrix, profile_openmpi;

/* Sets reader->err to "FILE:LINE: ...". Returns -EINVAL. */
int profile_fail(const struct profile_reader *reader, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Parses a number from 0 to NUIOA_PROFILE_NUMBER_MAX. Returns 0, or -EINVAL with reader->err. */
int profile_number(const struct profile_reader *reader, const char *field, double *value);

/* Splits the line into its first `max` fields, which point into it; returns their number. */
unsigned profile_split(char *line, char **fields, unsigned max);

/* Allocates space for `more` flows. Returns 0 or -ENOMEM. */
int profile_make_room(struct nuioa_profile *profile, uint32_t more);

/* Appends a flow. Returns 0, or -EINVAL or -ENOMEM with reader->err. */
int profile_add_flow(struct profile_reader *reader, const struct nuioa_flow *flow);

/* Sets the number of ranks and allocates their traffic. Returns 0, or -ENOMEM with reader->err. */
int profile_set_ranks(struct profile_reader *reader, uint32_t rank_count);

#endif
