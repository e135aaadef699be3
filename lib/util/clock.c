/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/clock.h"

#include <time.h>

int64_t nuioa_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t nuioa_clock_us(void)
{
    return nuioa_clock_ns() / 1000;
}

int64_t nuioa_clock_ms(void)
{
    return nuioa_clock_ns() / 1000000;
}

uint64_t nuioa_cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
