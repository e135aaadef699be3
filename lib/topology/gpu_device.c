/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/gpu_device.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/number.h"
#include "util/sysfs.h"
#include "util/word.h"

/* Linux has 20 bits for the minor number of a device. */
enum { MINOR_MAX = (1 << 20) - 1 };

/* Returns what follows "KEY:" and blanks in the line, or NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) || line[length] != ':')
        return NULL;
    line += length + 1;
    return line + strspn(line, " \t");
}

/* Returns true for "GPU-" and hexadecimal digits. A GPU that nobody has used since its driver was
 * loaded has question marks instead. */
static bool is_uuid(const char *text)
{
    return !strncmp(text, "GPU-", 4) && text[4] &&
           !text[4 + strspn(text + 4, "0123456789abcdefABCDEF-")];
}

static void read_nvidia(int root, const char *pci, struct nuioa_gpu_device *device)
{
    char text[2048], *rest = text, *line;
    uint32_t minor;
    nuioa_sysfs_text(root, text, sizeof(text), "proc/driver/nvidia/gpus/%s/information", pci);
    while ((line = nuioa_next_word(&rest, "\n"))) {
        const char *number = value_of(line, "Device Minor"), *uuid = value_of(line, "GPU UUID");
        if (number && !nuioa_parse_u32(number, MINOR_MAX, &minor))
            snprintf(device->file, sizeof(device->file), "/dev/nvidia%u", minor);
        if (uuid && is_uuid(uuid) && strlen(uuid) < sizeof(device->uuid))
            nuioa_copy(device->uuid, sizeof(device->uuid), uuid);
    }
}

/* The runtime of AMD makes a UUID of the 16 digits of the unique number; 0 is no such number. */
static void read_amd(int root, const char *pci, struct nuioa_gpu_device *device)
{
    char digits[24];
    if (nuioa_sysfs_text(root, digits, sizeof(digits), "sys/bus/pci/devices/%s/unique_id", pci) ==
            16 &&
        strspn(digits, "0123456789abcdefABCDEF") == 16 && strspn(digits, "0") < 16)
        snprintf(device->uuid, sizeof(device->uuid), "GPU-%s", digits);
}

/* Returns the index of the GPU whose address is the last one in `link`, the target of a link such
 * as "../../devices/pci0000:00/0000:00:02.0/drm/renderD128"; or -1. */
static int gpu_of_link(const struct nuioa_node *node, char *link)
{
    char *rest = link, *word;
    int found = -1;
    while ((word = nuioa_next_word(&rest, "/")))
        for (uint32_t i = 0; i < node->gpu_count; i++)
            if (!strcmp(word, node->gpus[i].pci))
                found = (int)i;
    return found;
}

static void read_render_nodes(const struct nuioa_node *node, int root,
                              struct nuioa_gpu_device *devices)
{
    static const char prefix[] = "renderD";
    int fd = openat(root, "sys/class/drm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        char link[512];
        uint32_t number;
        if (strncmp(entry->d_name, prefix, sizeof(prefix) - 1) ||
            nuioa_parse_u32(entry->d_name + sizeof(prefix) - 1, MINOR_MAX, &number) ||
            nuioa_sysfs_link(fd, link, sizeof(link), entry->d_name))
            continue;
        int gpu = gpu_of_link(node, link);
        if (gpu >= 0 && !*devices[gpu].file)
            snprintf(devices[gpu].file, sizeof(devices[gpu].file), "/dev/dri/renderD%u", number);
    }
    closedir(dir);
}

uint32_t nuioa_gpu_devices_read(const struct nuioa_node *node, const char *root,
                                struct nuioa_gpu_device *devices)
{
    uint32_t known = 0;
    memset(devices, 0, node->gpu_count * sizeof(*devices));
    if (node->emulated && !*root)
        return 0;
    int fd = open(*root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (uint32_t i = 0; fd >= 0 && i < node->gpu_count; i++) {
        const struct nuioa_gpu *gpu = &node->gpus[i];
        if (gpu->vendor == NUIOA_GPU_NVIDIA)
            read_nvidia(fd, gpu->pci, &devices[i]);
        else if (gpu->vendor == NUIOA_GPU_AMD)
            read_amd(fd, gpu->pci, &devices[i]);
    }
    if (fd >= 0) {
        read_render_nodes(node, fd, devices);
        close(fd);
    }
    for (uint32_t i = 0; i < node->gpu_count; i++)
        known += *devices[i].file != '\0';
    return known;
}
