/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/cxi.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

/* Returns true for a name such as "cxi0" that fits. */
static bool is_cxi(const char *name, size_t size)
{
    size_t digits = strncmp(name, "cxi", 3) ? 0 : strlen(name + 3);
    return digits && digits + 3 < size && strspn(name + 3, "0123456789") == digits;
}

void nuioa_cxi_name(hwloc_obj_t netdev, const struct nuioa_sysfs *sysfs, char *name, size_t size)
{
    char path[64];
    *name = '\0';
    for (hwloc_obj_t obj = netdev->parent->io_first_child; obj && !*name; obj = obj->next_sibling)
        if (obj->type == HWLOC_OBJ_OS_DEVICE && obj->name && is_cxi(obj->name, size))
            nuioa_copy(name, size, obj->name);
    snprintf(path, sizeof(path), "%.32s/device/cxi", netdev->name);
    DIR *directory = *name ? NULL : nuioa_sysfs_list(sysfs->net, path);
    for (struct dirent *entry; directory && !*name && (entry = readdir(directory));)
        if (is_cxi(entry->d_name, size))
            nuioa_copy(name, size, entry->d_name);
    if (directory)
        closedir(directory);
}
