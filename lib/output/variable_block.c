/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/variable_block.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct nuioa_block nuioa_block_begin(char *text, size_t size)
{
    if (size)
        text[0] = '\0';
    return (struct nuioa_block){ .text = text, .size = size, .rc = size ? 0 : -ENOSPC };
}

void nuioa_block_put(struct nuioa_block *b, const char *fmt, ...)
{
    char *entry = b->text + b->used;
    size_t room = b->size - b->used;
    va_list args;
    if (b->rc < 0)
        return;
    va_start(args, fmt);
    int length = vsnprintf(entry, room, fmt, args);
    va_end(args);
    bool fits = length >= 0 && (size_t)length + 2 <= room;
    if (fits && length < NUIOA_BLOCK_ENTRY_MAX)
        b->used += (size_t)length + 1;
    else if (length < NUIOA_BLOCK_ENTRY_MAX)
        b->rc = -ENOSPC;
    b->text[b->used] = '\0';
}

int nuioa_block_end(const struct nuioa_block *b)
{
    return b->rc < 0 ? b->rc : (int)b->used + 1;
}
