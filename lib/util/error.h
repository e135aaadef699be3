/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_ERROR_H
#define NUIOA_UTIL_ERROR_H

#include <stddef.h>

/* One line for a person: what input is wrong, and what would be right. */
struct nuioa_error {
    char text[256];
};

/* Writes the line (truncated if need be, control characters replaced by '?') and returns `code`,
 * which is negative, so that callers can `return nuioa_fail(err, -EINVAL, ...)`. `err` may be
 * NULL. */
int nuioa_fail(struct nuioa_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Warnings met on the way, in order. Once full, further ones are counted in `lost`. Plain data: may
 * be copied, and may live in memory shared between processes. */
#define NUIOA_WARNINGS_MAX 16
struct nuioa_warnings {
    unsigned count;
    unsigned lost;
    char text[NUIOA_WARNINGS_MAX][256];
};

/* Adds one line, unless the same line is already there. `w` may be NULL. */
void nuioa_warn(struct nuioa_warnings *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Forgets them; what they were is left in memory. */
void nuioa_warnings_clear(struct nuioa_warnings *w);

/* Then `to` holds what `from` held, instead of its own, and `from` nothing. */
void nuioa_warnings_move(struct nuioa_warnings *to, struct nuioa_warnings *from);

/* Copies with truncation and a final NUL, as strlcpy does; returns 0, or -ENAMETOOLONG if cut. */
int nuioa_copy(char *to, size_t size, const char *from);

#endif
