/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_READER_H
#define NUIOA_PROFILE_PROFILE_READER_H

#include <stdbool.h>

#include "profile/profile.h"

/* What the readers of the formats share. Private. */

struct profile_reader {
    const char *path;
    unsigned long line;
    enum nuioa_metric metric;
    struct nuioa_profile *profile;
    struct nuioa_error *err;
    bool headed;  /* text: the first line was there */
    bool *seen;   /* text: [rank_count], had a `rank` line */
    uint32_t row; /* matrix: how many rows there were */
};

/* One format. `line` takes the lines one by one and may cut them; `finish` says whether the end
 * came too early and sees to it that profile->ranks has profile->rank_count entries. */
struct profile_format {
    bool (*knows)(const char *line); /* is this how a file begins (no comment, not empty)? */
    int (*line)(struct profile_reader *reader, char *line);
    int (*finish)(struct profile_reader *reader);
};

extern const struct profile_format profile_text, profile_matrix, profile_openmpi;

/* "FILE:LINE: ..."; returns -EINVAL. */
int profile_fail(const struct profile_reader *reader, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* 0, or -EINVAL, said. */
int profile_number(const struct profile_reader *reader, const char *field, double *value);

/* Cuts the line into its first `max` fields; returns how many. */
unsigned profile_split(char *line, char **fields, unsigned max);

/* Room for so many flows more. 0 or -ENOMEM. */
int profile_make_room(struct nuioa_profile *profile, uint32_t more);

int profile_add_flow(struct profile_reader *reader, const struct nuioa_flow *flow);

/* Room for the traffic of the ranks. */
int profile_set_ranks(struct profile_reader *reader, uint32_t rank_count);

#endif
