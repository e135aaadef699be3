/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Returns the length in bytes of the UTF-8 character at `c` and its *code; 0: there is none. */
static unsigned decode(const unsigned char *c, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    unsigned more = *c < 0xc0 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3;
    *code = more ? *c & 0x3fu >> more : *c;
    if ((*c >= 0x80 && *c < 0xc0) || *c >= 0xf8)
        return 0;
    for (unsigned i = 1; i <= more; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (c[i] & 0x3fu);
    }
    return *code >= least[more] && *code <= 0x10ffff && *code >> 11 != 0x1b ? more + 1 : 0;
}

/* The control characters are C0, DEL and C1. Others turn the direction of text, or end a line. */
static bool is_printable(uint32_t code)
{
    return code >= ' ' && (code < 0x7f || code > 0x9f) && code != 0x61c && code != 0x200e &&
           code != 0x200f && (code < 0x2028 || code > 0x202e) && (code < 0x2066 || code > 0x2069);
}

void nuioa_make_printable(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        uint32_t code;
        unsigned length = decode((const unsigned char *)from, &code);
        if (length && is_printable(code)) {
            memmove(to, from, length);
            to += length;
        } else {
            *to++ = '?';
        }
        from += length ? length : 1;
    }
    *to = '\0';
}

/* The text goes to terminals and logs, and may quote what a user wrote. */
static void format_line(char *text, size_t size, const char *fmt, va_list args)
{
    vsnprintf(text, size, fmt, args);
    nuioa_make_printable(text);
}

int nuioa_fail(struct nuioa_error *err, int code, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        format_line(err->text, sizeof(err->text), fmt, args);
        va_end(args);
    }
    return code;
}

void nuioa_warn(struct nuioa_warnings *w, const char *fmt, ...)
{
    if (!w)
        return;
    char text[sizeof(w->text[0])];
    va_list args;
    va_start(args, fmt);
    format_line(text, sizeof(text), fmt, args);
    va_end(args);
    for (unsigned i = 0; i < w->count; i++)
        if (!strcmp(w->text[i], text))
            return;
    if (w->count == NUIOA_WARNINGS_MAX)
        w->lost++;
    else
        memcpy(w->text[w->count++], text, sizeof(text));
}

void nuioa_warnings_clear(struct nuioa_warnings *w)
{
    w->count = w->lost = 0;
}

int nuioa_copy(char *to, size_t size, const char *from)
{
    int length = snprintf(to, size, "%s", from);
    return length >= 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}
