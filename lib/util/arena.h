/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_ARENA_H
#define NUIOA_UTIL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* An arena holds arrays that are freed together. A mapper takes a dozen of them and then checks
 * `failed` once. An arena that is all zeros is empty and ready for use. */
struct nuioa_arena {
    struct nuioa_arena_block *blocks; /* private to arena.c */
    bool failed;                      /* memory was missing for at least one array */
};

/* Returns an array of `count` elements of `size` bytes, all zeros, which the arena owns until
 * nuioa_arena_free. Returns NULL if there is no memory for it, or was none for an earlier one:
 * `failed` is then set and stays set. */
void *nuioa_arena_take(struct nuioa_arena *arena, size_t count, size_t size);

/* Frees all arrays of the arena, but not `arena` itself. `failed` stays as it is. */
void nuioa_arena_free(struct nuioa_arena *arena);

#endif
