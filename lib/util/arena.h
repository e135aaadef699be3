/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_ARENA_H
#define NUIOA_UTIL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* An arena holds arrays, and sets of CPUs or NUMA nodes, that are freed together. A mapper takes a
 * dozen of them and then checks `failed` once. An arena that is all zeros is empty and ready for
 * use. */
struct nuioa_arena {
    struct nuioa_arena_block *blocks; /* private to arena.c, as are the sets */
    struct nuioa_arena_bitmap *bitmaps;
    bool failed; /* memory was missing for at least one array or set */
};

/* Returns an array of `count` elements of `size` bytes, all zeros, which the arena owns until
 * nuioa_arena_free. Returns NULL if there is no memory for it, or was none for an earlier one:
 * `failed` is then set and stays set. */
void *nuioa_arena_take(struct nuioa_arena *arena, size_t count, size_t size);

/* Returns a set, hwloc's hwloc_bitmap_t, that the arena owns: a copy of `of`, empty if that is
 * NULL. Returns NULL as nuioa_arena_take does. */
struct hwloc_bitmap_s *nuioa_arena_bitmap(struct nuioa_arena *arena,
                                          const struct hwloc_bitmap_s *of);

/* Frees all arrays and sets of the arena, but not `arena` itself. `failed` stays as it is. */
void nuioa_arena_free(struct nuioa_arena *arena);

#endif
