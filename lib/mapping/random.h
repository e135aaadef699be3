/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_RANDOM_H
#define NUIOA_MAPPING_RANDOM_H

#include <stdint.h>

/* A random number generator that gives the same sequence on every machine: xorshift64 (G.
 * Marsaglia, "Xorshift RNGs", 2003). The state is the seed; it must not be 0. */
struct nuioa_random {
    uint64_t state; /* not 0 */
};

/* Returns a number from 0 to `bound` - 1, and advances the state. `bound` must not be 0. */
static inline uint32_t nuioa_random_below(struct nuioa_random *random, uint32_t bound)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return (uint32_t)((random->state >> 32) * bound >> 32);
}

#endif
