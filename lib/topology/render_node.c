/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/render_node.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/number.h"
#include "util/sysfs.h"
#include "util/word.h"

/* Returns true if the target of a link goes through the directory of the PCI function, such as
 * "../../devices/pci0000:00/0000:00:02.0/drm/renderD128". */
static bool leads_through(char *link, const char *pci)
{
    for (char *word; (word = nuioa_next_word(&link, "/"));)
        if (!strcmp(word, pci))
            return true;
    return false;
}

int nuioa_render_node(int drm, const char *pci)
{
    static const char prefix[] = "renderD";
    const size_t length = sizeof(prefix) - 1;
    int found = -1;
    DIR *dir = nuioa_sysfs_list(drm, ".");
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char link[512];
        uint32_t number; /* a minor number of Linux, which has 20 bits */
        if (!strncmp(entry->d_name, prefix, length) &&
            !nuioa_parse_u32(entry->d_name + length, (1 << 20) - 1, &number) &&
            (found < 0 || (int)number < found) &&
            !nuioa_sysfs_link(drm, link, sizeof(link), entry->d_name) && leads_through(link, pci))
            found = (int)number;
    }
    closedir(dir);
    return found;
}
