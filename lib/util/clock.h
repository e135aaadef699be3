/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_CLOCK_H
#define NUIOA_UTIL_CLOCK_H

#include <stdint.h>

/* Two clocks. These functions never fail and may be called in any thread.
 *
 * The monotonic clock (CLOCK_MONOTONIC) is the time since some moment before this process began.
 * Nobody can set it, so it is right for deadlines and for how long something takes. */

/* Returns the monotonic clock in nanoseconds. */
int64_t nuioa_clock_ns(void);

/* Returns the monotonic clock in microseconds, rounded down. */
int64_t nuioa_clock_us(void);

/* Returns the monotonic clock in milliseconds, rounded down. */
int64_t nuioa_clock_ms(void);

/* Returns the processor time that the calling thread has used, in microseconds, rounded down. Time
 * during which it did not run does not count. */
uint64_t nuioa_cpu_us(void);

#endif
