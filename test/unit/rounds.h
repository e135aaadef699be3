/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_ROUNDS_H
#define UNIT_ROUNDS_H

#include <stdint.h>

/* How often a test draws something at random. valgrind and the sanitizers look for other things
 * than rare cases; valgrind takes 30 times as long, a sanitizer up to 10 times. */

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS_SHARE 4
#else
#define ROUNDS_SHARE 1
#endif

static inline uint64_t rounds(uint64_t wanted)
{
    return wanted / (RUNNING_ON_VALGRIND ? 8 : ROUNDS_SHARE);
}

/* Returns a number below `limit`, drawn by *seed, which goes on. */
static inline uint32_t draw(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % limit;
}

#endif
