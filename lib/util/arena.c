/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/arena.h"

#include <stdint.h>
#include <stdlib.h>

struct nuioa_block {
    struct nuioa_block *next;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *nuioa_arena_take(struct nuioa_arena *arena, size_t count, size_t size)
{
    struct nuioa_block *block = NULL;
    if (!arena->failed && (!size || count <= (SIZE_MAX - sizeof(*block)) / size))
        block = calloc(1, sizeof(*block) + count * size);
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    return block->bytes;
}

void nuioa_arena_free(struct nuioa_arena *arena)
{
    while (arena->blocks) {
        struct nuioa_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
