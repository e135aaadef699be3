/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_TEXT_H
#define NUIOA_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A text that grows in the caller's array of `size` bytes. */
struct nuioa_text {
    char *text; /* ends with a NUL */
    size_t size, used;
    bool lost; /* something did not fit */
};

/* Returns an empty text in text[size], at least 1. */
struct nuioa_text nuioa_text_in(char *text, size_t size);

/* Appends what is formatted as by printf. If it does not fit, it is left out, and so is all that
 * comes after it. */
void nuioa_text_add(struct nuioa_text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns true if something was added, and nothing is lost. */
bool nuioa_text_is_whole(const struct nuioa_text *text);

/* Closes `out`, which open_memstream(3) has made for *text. Returns the text, which the caller
 * frees with free(); or NULL if something of it is missing. */
char *nuioa_text_close(FILE *out, char **text);

#endif
