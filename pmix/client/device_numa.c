/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix/client/device_numa.h"
#include "pmix/client/nuioa-client.h"
#include "util/sysfs.h"

/* This file finds the NUMA node of a device by its name, from sysfs. */

/* Returns the NUMA node of the device, or else that of the nearest device above it: a virtio device
 * has none of its own, but the PCI device below which it is has one. Or -ENOENT, -ENODATA. */
static int numa_of(const char *root, const char *class_path)
{
    char top[PATH_MAX], path[PATH_MAX];
    long numa = -1;
    if (!realpath(class_path, path) || !realpath(*root ? root : "/", top))
        return -ENOENT;
    for (size_t least = strlen(top) + 1; strlen(path) > least; *strrchr(path, '/') = '\0')
        if (!nuioa_sysfs_number(AT_FDCWD, &numa, "%s/numa_node", path) && numa >= 0 &&
            numa < INT_MAX)
            return (int)numa;
    return -ENODATA;
}

/* Returns the NUMA node of the device of this class, or -ENOENT if the class has no such device. */
static int in_class(const char *root, const char *pattern, const char *name)
{
    char path[PATH_MAX], entry[128];
    if ((size_t)snprintf(entry, sizeof(entry), pattern, name) >= sizeof(entry) ||
        (size_t)snprintf(path, sizeof(path), "%s/sys/%s", root, entry) >= sizeof(path))
        return -EINVAL;
    return numa_of(root, path);
}

/* Looks for the name in each class. Verbs devices come before netdevs; a name that is in both
 * classes belongs to one card. */
static int by_name(const char *root, const char *name)
{
    int rc = in_class(root, "class/infiniband/%s", name);
    if (rc == -ENOENT)
        rc = in_class(root, "class/cxi/%s", name);
    if (rc == -ENOENT)
        rc = in_class(root, "class/net/%s", name);
    if (rc == -ENOENT)
        rc = in_class(root, "bus/pci/devices/%s", name);
    return rc == -ENOENT ? in_class(root, "bus/pci/devices/0000:%s", name) : rc;
}

static int check(const char *device, char *name, size_t size)
{
    size_t length = device ? strlen(device) : 0;
    if (!length || length >= size || device[0] == '.')
        return -EINVAL;
    for (const char *c = device; *c; c++)
        if (!isgraph((unsigned char)*c) || *c == '/')
            return -EINVAL;
    memcpy(name, device, length + 1);
    return 0;
}

/* Removes the end of a name that is not the device's: the kind of endpoint in libfabric's name of a
 * domain (mlx5_0-rdm), or the port (mlx5_0:1). Returns false if there is no such end. */
static bool shorten(char *name)
{
    static const char *const kinds[] = {
        "-rdm", "-dgrm", "-dgram", "-msg", "-xrc", "-rdm+xrc", NULL
    };
    char *end = strrchr(name, ':');
    if (end && end != name && end[1] && strspn(end + 1, "0123456789") == strlen(end + 1)) {
        *end = '\0';
        return true;
    }
    end = strchr(name, '-');
    for (const char *const *kind = kinds; end && *kind; kind++)
        if (!strcmp(end, *kind)) {
            *end = '\0';
            return true;
        }
    return false;
}

int device_numa(const char *root, const char *device)
{
    char name[64];
    int rc = check(device, name, sizeof(name));
    if (rc)
        return rc;
    do
        rc = by_name(root, name);
    while (rc == -ENOENT && shorten(name));
    return rc;
}

int nuioa_client_device_numa(const char *device)
{
    return device_numa("", device);
}
