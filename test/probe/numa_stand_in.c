/* SPDX-License-Identifier: BSD-3-Clause */

/* To be preloaded: more CPUs and NUMA nodes than this machine has. What a process binds itself to
 * is kept in its environment, so that the programs that it starts inherit it, as they do from the
 * kernel; and they are told it when they ask.
 *
 *     cc -shared -fPIC -o numa_stand_in.so numa_stand_in.c */

#define _GNU_SOURCE

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS "NUMA_STAND_IN_CPUS"
#define MEMORY "NUMA_STAND_IN_MEMORY"

/* Writes a set of bits as words in hexadecimal, the first one first. */
static void keep(const char *name, const unsigned long *bits, size_t words)
{
    char text[2048] = "";
    for (size_t i = 0; i < words; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%lx ", bits[i]);
    setenv(name, text, 1);
}

/* Returns 1 if something was kept. */
static int recall(const char *name, unsigned long *bits, size_t words)
{
    const char *text = getenv(name);
    memset(bits, 0, words * sizeof(*bits));
    for (size_t i = 0; text && *text && i < words; i++) {
        char *end;
        bits[i] = strtoul(text, &end, 16);
        text = end + (*end == ' ');
    }
    return text != NULL;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    (void)pid;
    keep(CPUS, (const unsigned long *)set, size / sizeof(long) < 8 ? size / sizeof(long) : 8);
    return 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    if (!recall(CPUS, (unsigned long *)set, size / sizeof(long)))
        memset(set, 0xff, 2); /* 16 CPUs */
    return 0;
}

long set_mempolicy(int mode, const unsigned long *mask, unsigned long bits)
{
    unsigned long words[4] = { (unsigned long)mode, mask ? mask[0] : 0, 0, 0 };
    if (mode == 2 && (!mask || !bits || !mask[0])) {
        errno = EINVAL;
        return -1;
    }
    keep(MEMORY, words, 2);
    return 0;
}

long get_mempolicy(int *mode, unsigned long *mask, unsigned long bits, void *address,
                   unsigned flags)
{
    unsigned long words[2];
    (void)bits, (void)address, (void)flags;
    if (!recall(MEMORY, words, 2))
        words[0] = words[1] = 0;
    *mode = (int)words[0];
    mask[0] = words[1];
    return 0;
}
