/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The text goes to terminals and logs, and may quote what a user wrote: control characters are
 * replaced. */
static void format_line(char *text, size_t size, const char *fmt, va_list args)
{
    vsnprintf(text, size, fmt, args);
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
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
