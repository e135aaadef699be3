/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_ARENA_H
#define NUIOA_UTIL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* Arrays that live and die together. A mapper takes a dozen and asks once whether all were
 * there. */
struct nuioa_arena {
    struct nuioa_block *blocks;
    bool failed; /* some take found no memory */
};

/* `count` zeroed elements, never NULL unless the arena has failed (then `failed` is set and
 * stays). */
void *nuioa_arena_take(struct nuioa_arena *arena, size_t count, size_t size);

void nuioa_arena_free(struct nuioa_arena *arena);

#endif
