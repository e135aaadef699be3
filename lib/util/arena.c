/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/arena.h"

#include <hwloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Small arrays are parts of one block, which is smaller than what glibc's malloc calls large: for
 * that it first merges all small blocks that were ever freed. With AddressSanitizer each has a
 * block of its own, so that whatever is written past its end is seen. */
#if defined(__SANITIZE_ADDRESS__)
#define BLOCK 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOCK 0
#endif
#endif
#ifndef BLOCK
#define BLOCK 960
#endif

struct nuioa_arena_block {
    struct nuioa_arena_block *next;
    size_t used, size; /* of the bytes */
    _Alignas(max_align_t) unsigned char bytes[];
};

struct nuioa_arena_bitmap {
    struct nuioa_arena_bitmap *next;
    hwloc_bitmap_t bitmap;
};

void *nuioa_arena_take(struct nuioa_arena *arena, size_t count, size_t size)
{
    const size_t align = _Alignof(max_align_t), most = SIZE_MAX / 2;
    struct nuioa_arena_block *block = arena->blocks;
    if (arena->failed || (size && count > most / size)) {
        arena->failed = true;
        return NULL;
    }
    size_t bytes = (count * size + align - 1) / align * align;
    if (!block || block->size - block->used < bytes) {
        size_t all = bytes > BLOCK ? bytes : BLOCK;
        block = malloc(sizeof(*block) + all);
        if (!block) {
            arena->failed = true;
            return NULL;
        }
        *block = (struct nuioa_arena_block){ arena->blocks, 0, all };
        arena->blocks = block;
    }
    void *array = block->bytes + block->used;
    block->used += bytes;
    return memset(array, 0, bytes);
}

hwloc_bitmap_t nuioa_arena_bitmap(struct nuioa_arena *arena, hwloc_const_bitmap_t of)
{
    struct nuioa_arena_bitmap *new = nuioa_arena_take(arena, 1, sizeof(*new));
    if (!new)
        return NULL;
    *new = (struct nuioa_arena_bitmap){ arena->bitmaps,
                                        of ? hwloc_bitmap_dup(of) : hwloc_bitmap_alloc() };
    arena->bitmaps = new;
    arena->failed = !new->bitmap;
    return new->bitmap;
}

void nuioa_arena_free(struct nuioa_arena *arena)
{
    for (; arena->bitmaps; arena->bitmaps = arena->bitmaps->next)
        hwloc_bitmap_free(arena->bitmaps->bitmap);
    while (arena->blocks) {
        struct nuioa_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
