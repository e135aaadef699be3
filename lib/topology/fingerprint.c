/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/fingerprint.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/hash.h"
#include "util/sysfs.h"
#include "util/word.h"

static uint64_t hash_numa_node(uint64_t seed, const struct nuioa_sysfs *sysfs, const char *pci)
{
    char text[16];
    nuioa_sysfs_text(sysfs->pci, text, sizeof(text), "%s/numa_node", pci);
    return nuioa_hash_text(seed, text);
}

/* Hashes a device with the NUMA nodes of itself and of the root port above it: hwloc reads both.
 * `link` is its place in sysfs, which is changed; in it only the addresses of PCI devices have two
 * colons. */
static uint64_t hash_device(const struct nuioa_sysfs *sysfs, const char *name, char *link)
{
    uint64_t sum = nuioa_hash_text(nuioa_hash_text(NUIOA_HASH_START, name), link);
    const char *first = NULL, *last = NULL;
    for (const char *part; (part = nuioa_next_word(&link, "/"));)
        if (strchr(part, ':') != strrchr(part, ':')) {
            first = first ? first : part;
            last = part;
        }
    if (first)
        sum = hash_numa_node(sum, sysfs, first);
    return last != first ? hash_numa_node(sum, sysfs, last) : sum;
}

/* Adds the hashes of the devices, because the order of the entries of a directory has no meaning.
 * With a `prefix` only devices whose names begin with it count, and the rest of their names does
 * not: the numbers of render nodes change when a driver is loaded again. */
static uint64_t hash_class(const struct nuioa_sysfs *sysfs, int class_dir, const char *prefix)
{
    uint64_t sum = 0;
    DIR *directory = nuioa_sysfs_list(class_dir, ".");
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char link[256];
        const char *name = entry->d_name;
        if (name[0] == '.' || strncmp(name, prefix, strlen(prefix)) ||
            nuioa_sysfs_link(class_dir, link, sizeof(link), name) || strstr(link, "/virtual/"))
            continue;
        char *slash = strrchr(link, '/');
        if (*prefix && slash)
            *slash = '\0';
        sum += hash_device(sysfs, *prefix ? prefix : name, link);
    }
    closedir(directory);
    return sum;
}

static uint64_t hash_online(uint64_t seed, const char *root)
{
    char text[1024];
    nuioa_sysfs_text(AT_FDCWD, text, sizeof(text), "%s/sys/devices/system/cpu/online", root);
    seed = nuioa_hash_text(seed, text);
    nuioa_sysfs_text(AT_FDCWD, text, sizeof(text), "%s/sys/devices/system/node/online", root);
    return nuioa_hash_text(seed, text);
}

static uint64_t hash_environment(void)
{
    uint64_t sum = 0;
    for (char **variable = environ; variable && *variable; variable++)
        if (!strncmp(*variable, "HWLOC_", 6) && strncmp(*variable, "HWLOC_HIDE_ERRORS=", 18))
            sum += nuioa_hash_text(NUIOA_HASH_START, *variable);
    return sum;
}

uint64_t nuioa_fingerprint(const char *root)
{
    struct nuioa_sysfs sysfs;
    nuioa_sysfs_open(&sysfs, root);
    uint64_t sums[] = { hash_class(&sysfs, sysfs.net, ""), hash_class(&sysfs, sysfs.verbs, ""),
                        hash_class(&sysfs, sysfs.drm, "renderD"), hash_environment() };
    nuioa_sysfs_close(&sysfs);
    return hash_online(nuioa_hash(NUIOA_HASH_START, sums, sizeof(sums)), root);
}
