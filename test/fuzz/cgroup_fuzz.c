/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"
#include "input.h"
#include "spank/stepd/cgroup.h"

/* slurmstepd reads as root what the kernel says of a task's cgroup and memory. The input is these
 * files (files.h), with /proc/1 for the task. */

/* The kernel's lists end at its largest number of CPUs. hwloc makes a set of any size, which takes
 * a second and half a gigabyte for the largest one. */
static bool has_large_number(const uint8_t *data, size_t size)
{
    unsigned digits = 0;
    for (size_t i = 0; i < size && digits < 7; i++)
        digits = isdigit(data[i]) ? digits + 1 : 0;
    return digits >= 7;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (has_large_number(data, size))
        return 0;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    files_open(data, size);
    if (!cgroup_cpus(1, set))
        INPUT_CHECK(!hwloc_bitmap_iszero(set));
    hwloc_bitmap_zero(set);
    cgroup_numas(1, set);
    int group = cgroup_open(1); /* of this machine, if it has such a one */
    if (group >= 0)
        close(group);
    files_close();
    hwloc_bitmap_free(set);
    return 0;
}
