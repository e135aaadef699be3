/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_CLOCK_H
#define NUIOA_UTIL_CLOCK_H

#include <stdint.h>

/* The monotonic clock (CLOCK_MONOTONIC): the time since some moment before this process began.
 * Nobody can set it, so it is right for deadlines and for how long something takes. These
 * functions never fail and may be called in any thread. */

/* Returns nanoseconds. */
int64_t nuioa_clock_ns(void);

/* Returns microseconds, rounded down. */
int64_t nuioa_clock_us(void);

/* Returns milliseconds, rounded down. */
int64_t nuioa_clock_ms(void);

#endif
