/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/arena.h"

#include <stdint.h>
#include <stdlib.h>

struct nuioa_arena_array {
    struct nuioa_arena_array *next;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *nuioa_arena_take(struct nuioa_arena *arena, size_t count, size_t size)
{
    struct nuioa_arena_array *array = NULL;
    if (!arena->failed && (!size || count <= (SIZE_MAX - sizeof(*array)) / size))
        array = calloc(1, sizeof(*array) + count * size);
    if (!array) {
        arena->failed = true;
        return NULL;
    }
    array->next = arena->arrays;
    arena->arrays = array;
    return array->bytes;
}

void nuioa_arena_free(struct nuioa_arena *arena)
{
    while (arena->arrays) {
        struct nuioa_arena_array *next = arena->arrays->next;
        free(arena->arrays);
        arena->arrays = next;
    }
}
