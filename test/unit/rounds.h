/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_ROUNDS_H
#define UNIT_ROUNDS_H

#include <stdint.h>

/* How often a test draws something at random. valgrind looks for other things than rare cases, and
 * takes 30 times as long. */

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

static inline uint64_t rounds(uint64_t wanted)
{
    return RUNNING_ON_VALGRIND ? wanted / 8 : wanted;
}

#endif
