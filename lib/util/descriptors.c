/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/number.h"

/* Headers of glibc before 2.34 have no number for it; all architectures of Linux but alpha have
 * this one. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { CLOSED_ONE_BY_ONE = 65536 };

void nuioa_close_descriptors(unsigned first, unsigned last)
{
    if (first > last || !syscall(SYS_close_range, first, last, 0u))
        return;
    for (unsigned fd = first; fd <= last && fd < CLOSED_ONE_BY_ONE; fd++)
        close((int)fd);
}

/* The limit is for their numbers: one above it takes no place. */
uint32_t nuioa_free_descriptors(uint64_t limit)
{
    const struct dirent *entry;
    uint64_t used = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (!directory)
        return errno == EMFILE ? 0 : UINT32_MAX;
    while ((entry = readdir(directory))) {
        uint32_t number;
        used += !nuioa_parse_u32(entry->d_name, UINT32_MAX, &number) && number < limit &&
                number != (uint32_t)dirfd(directory);
    }
    closedir(directory);
    return limit >= UINT32_MAX ? UINT32_MAX : (uint32_t)(limit - used);
}
