/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/text.h"

#include <stdarg.h>
#include <stdlib.h>

struct nuioa_text nuioa_text_in(char *text, size_t size)
{
    *text = '\0';
    return (struct nuioa_text){ .text = text, .size = size };
}

void nuioa_text_add(struct nuioa_text *t, const char *fmt, ...)
{
    va_list args;
    if (t->lost)
        return;
    va_start(args, fmt);
    int n = vsnprintf(t->text + t->used, t->size - t->used, fmt, args);
    va_end(args);
    t->lost = n < 0 || (size_t)n >= t->size - t->used;
    t->used += t->lost ? 0 : (size_t)n;
    t->text[t->used] = '\0';
}

bool nuioa_text_is_whole(const struct nuioa_text *t)
{
    return t->used && !t->lost;
}

char *nuioa_text_close(FILE *out, char **text)
{
    if (!fclose(out))
        return *text;
    free(*text);
    return NULL;
}
