/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_ERROR_H
#define NUIOA_UTIL_ERROR_H

#include <stddef.h>

/* One line for the user: it says what is wrong, why, and what to do. */
struct nuioa_error {
    char text[256];
};

/* Writes the line to *err: text that is too long is cut, and '?' replaces control characters.
 * Returns `code`, a negative errno value, so that callers can write
 * `return nuioa_fail(err, -EINVAL, ...)`. `err` may be NULL. */
int nuioa_fail(struct nuioa_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A list of warnings, in the order in which they were added. When it is full, further ones are only
 * counted in `lost`. It holds no pointers, so it may be copied, and may be in memory that processes
 * share. */
#define NUIOA_WARNINGS_MAX 16
struct nuioa_warnings {
    unsigned count;
    unsigned lost;
    char text[NUIOA_WARNINGS_MAX][256];
};

/* Adds one line, formatted as nuioa_fail does, unless the list has the same line already. `w` may
 * be NULL. */
void nuioa_warn(struct nuioa_warnings *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes the list empty. The texts are not overwritten. */
void nuioa_warnings_clear(struct nuioa_warnings *w);

/* Replaces the warnings of `to` by those of `from`, and makes `from` empty. */
void nuioa_warnings_move(struct nuioa_warnings *to, struct nuioa_warnings *from);

/* Copies a text to `to`, an array of `size` bytes, and always ends it with a NUL. Returns 0, or
 * -ENAMETOOLONG if the text had to be cut. */
int nuioa_copy(char *to, size_t size, const char *from);

#endif
