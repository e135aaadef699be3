/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/memory.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/number.h"

void coll_copy(void *to, const void *from, size_t bytes, int owner, enum coll_direction direction)
{
    (void)owner, (void)direction;
    memcpy(to, from, bytes);
}

void coll_flag_post(uint64_t *flag, uint64_t value)
{
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The waiting rank calls MPI from time to time, because a rank that waits for an earlier message of
 * this one may need it. It also yields, because there may be more ranks than CPUs. */
void coll_flag_wait(const uint64_t *flag, uint64_t value)
{
    for (unsigned tries = 1; __atomic_load_n(flag, __ATOMIC_ACQUIRE) < value; tries++) {
        relax();
        if (tries % 256 == 0) {
            int found;
            PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
            sched_yield();
        }
    }
}

/* Reads the first line of a file in /sys/devices/system/node. */
static bool read_line(const char *name, char *line, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/sys/devices/system/node/%s", name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool good = fgets(line, (int)size, file);
    fclose(file);
    return good;
}

/* The kernel's row has a number for each NUMA node that is online, without saying which. So it is
 * used only if the nodes online are numbered from 0 on without a gap. */
static void read_distances(unsigned numa, uint8_t *distance, size_t count)
{
    char name[32], line[4096], online[64], wanted[64], *next, *save;
    uint8_t row[256];
    unsigned found = 0;
    snprintf(name, sizeof(name), "node%u/distance", numa);
    if (!read_line(name, line, sizeof(line)) || !read_line("online", online, sizeof(online)))
        return;
    for (next = strtok_r(line, " \n", &save); next && found < sizeof(row);
         next = strtok_r(NULL, " \n", &save)) {
        uint32_t value;
        if (nuioa_parse_u32(next, UINT8_MAX, &value) < 0)
            return;
        row[found++] = (uint8_t)value;
    }
    snprintf(wanted, sizeof(wanted), found > 1 ? "0-%u\n" : "0\n", found - 1);
    if (!strcmp(online, wanted))
        memcpy(distance, row, found < count ? found : count);
}

int coll_numa(uint8_t *distance, size_t count)
{
    unsigned cpu, numa;
    memset(distance, 0, count);
    if (getcpu(&cpu, &numa))
        return -1;
    read_distances(numa, distance, count);
    return (int)numa;
}

int coll_cpus(int32_t *lowest)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus),
                          &cpus)) /* it also fails if the machine has more CPUs than `cpus` */
        return 0;
    for (*lowest = 0; *lowest < CPU_SETSIZE && !CPU_ISSET(*lowest, &cpus); ++*lowest)
        ;
    return CPU_COUNT(&cpus);
}
