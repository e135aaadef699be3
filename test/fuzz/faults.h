/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FUZZ_FAULTS_H
#define TEST_FUZZ_FAULTS_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/fault.h"

/* Runs each input again and again, and each time another call of the decoder fails for want of
 * memory: the first, the second, and so on, alone and with all that follow it. Every target is
 * linked with faults.c, which does so if the environment has NUIOA_FUZZ_FAULTS: so many calls of an
 * input fail at most, evenly spread.
 *
 * The target's own calls of these functions never fail. */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
char *__real_strdup(const char *text);
hwloc_bitmap_t __real_hwloc_bitmap_alloc(void);
int __real_hwloc_bitmap_set(hwloc_bitmap_t set, unsigned bit);

#define malloc(size) __real_malloc(size)
#define calloc(count, size) __real_calloc(count, size)
#define strdup(text) __real_strdup(text)
#define hwloc_bitmap_alloc() __real_hwloc_bitmap_alloc()
#define hwloc_bitmap_set(set, bit) __real_hwloc_bitmap_set(set, bit)

/* Returns true if a call of this run has failed. What a target expects need not hold then. */
bool faults_hit(void);

/* Ends this run of the input, whose target does not go on. */
_Noreturn void faults_end_input(void);

#endif
