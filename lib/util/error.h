/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_ERROR_H
#define NUIOA_UTIL_ERROR_H

#include <stddef.h>

/* How functions fail. A function that can fail returns a negative errno, and many write a line for
 * the user to a struct nuioa_error that the caller gives as `err`. Nothing in these structs is
 * allocated. */

/* One line for the user: it says what is wrong, why, and what to do. */
struct nuioa_error {
    char text[256]; /* without newline, ends with a NUL */
};

/* Puts one '?' in the place of each character in `text` that could harm the terminal or the log of
 * another: control characters (C0, DEL, C1), those that turn the direction of text or end a line,
 * and bytes that are no UTF-8. */
void nuioa_make_printable(char *text);

/* Writes a line to *err, from `fmt` and what follows it, as printf does. Text that is too long is
 * cut, and nuioa_make_printable() is applied. Returns `code`, a negative errno, so that callers can
 * write `return nuioa_fail(err, -EINVAL, ...)`. `err` may be NULL: nothing is written then. */
int nuioa_fail(struct nuioa_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A list of warnings, in the order in which they were added. When it is full, further ones are only
 * counted in `lost`. It holds no pointers, so it may be copied, and may be in memory that processes
 * share. */
#define NUIOA_WARNINGS_MAX 16
struct nuioa_warnings {
    unsigned count; /* texts in the list */
    unsigned lost;  /* texts that did not fit into it */
    char text[NUIOA_WARNINGS_MAX][256];
};

/* Adds one line to the list `w`, formatted as nuioa_fail does, unless the list has the same line
 * already. `w` may be NULL: the warning is lost then. */
void nuioa_warn(struct nuioa_warnings *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes the list `w` empty: count and lost are 0. The texts are not overwritten. */
void nuioa_warnings_clear(struct nuioa_warnings *w);

/* Copies the text `from` to `to`, an array of `size` bytes (at least 1) that does not overlap it,
 * and always ends it with a NUL. Returns 0, or -ENAMETOOLONG if the text had to be cut. */
int nuioa_copy(char *to, size_t size, const char *from);

#endif
