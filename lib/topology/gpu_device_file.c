/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/gpu_device_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/number.h"
#include "util/sysfs.h"
#include "util/word.h"

/* Linux has 20 bits for the minor number of a device. */
enum { MINOR_MAX = (1 << 20) - 1 };

/* The topology of AMD's driver: its nodes are numbered from 0, processors first. */
#define KFD_NODES "sys/class/kfd/kfd/topology/nodes"
enum { KFD_NODES_MAX = 1024, KFD_SEVERAL = KFD_NODES_MAX };

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

/* Instances have numbers below 16. */
static bool has_instance(int root, uint32_t minor)
{
    bool found = false;
    for (unsigned i = 0; !found && i < 16; i++)
        found =
            nuioa_sysfs_exists(root, "proc/driver/nvidia/capabilities/gpu%u/mig/gi%u", minor, i);
    return found;
}

static void read_nvidia(int root, const char *pci, struct nuioa_gpu_device *device)
{
    char text[2048], *rest = text, *line;
    uint32_t minor;
    nuioa_sysfs_text(root, text, sizeof(text), "proc/driver/nvidia/gpus/%s/information", pci);
    while ((line = nuioa_next_word(&rest, "\n"))) {
        const char *number = value_of(line, "Device Minor"), *uuid = value_of(line, "GPU UUID");
        if (number && !nuioa_parse_u32(number, MINOR_MAX, &minor)) {
            snprintf(device->file, sizeof(device->file), "/dev/nvidia%u", minor);
            device->divided = has_instance(root, minor);
        }
        if (uuid && is_uuid(uuid) && strlen(uuid) < sizeof(device->uuid))
            nuioa_copy(device->uuid, sizeof(device->uuid), uuid);
    }
}

/* The runtime of AMD makes a UUID of the 16 digits of the unique number; 0 is no such number. */
static void read_amd(int devices, const char *pci, struct nuioa_gpu_device *device)
{
    char digits[24];
    if (nuioa_sysfs_text(devices, digits, sizeof(digits), "%s/unique_id", pci) == 16 &&
        strspn(digits, "0123456789abcdefABCDEF") == 16 && strspn(digits, "0") < 16)
        snprintf(device->uuid, sizeof(device->uuid), "GPU-%s", digits);
}

/* One node of the topology of AMD's driver: what its properties say, 0 where they do not. */
struct kfd_node {
    uint32_t simd_count, domain, location;
};

/* Reads the properties of node `number`, lines such as "simd_count 416". Returns false if there is
 * no such node; a node that may not be read is no GPU. */
static bool read_kfd_node(int root, uint32_t number, struct kfd_node *node)
{
    const struct {
        const char *key;
        uint32_t *value;
    } wanted[] = { { "simd_count", &node->simd_count },
                   { "domain", &node->domain },
                   { "location_id", &node->location } };
    char text[4096], *rest = text, *line;
    *node = (struct kfd_node){ 0 };
    nuioa_sysfs_text(root, text, sizeof(text), KFD_NODES "/%u/properties", number);
    while ((line = nuioa_next_word(&rest, "\n"))) {
        char *value = line, *key = nuioa_next_word(&value, " ");
        for (unsigned i = 0; key && value && i < sizeof(wanted) / sizeof(*wanted); i++)
            if (!strcmp(key, wanted[i].key) &&
                nuioa_parse_u32(value, UINT32_MAX, wanted[i].value) < 0)
                *node = (struct kfd_node){ 0 };
    }
    return *text || nuioa_sysfs_exists(root, KFD_NODES "/%u", number);
}

/* Finds the numbers of the nodes of AMD's GPUs. The parts of a GPU that is divided have one address
 * and a node each. */
static void read_kfd(const struct nuioa_node *node, int root, struct nuioa_gpu_device *devices)
{
    struct kfd_node found;
    for (uint32_t n = 0; n < KFD_NODES_MAX && read_kfd_node(root, n, &found); n++) {
        char pci[24];
        snprintf(pci, sizeof(pci), "%04x:%02x:%02x.%x", found.domain, found.location >> 8 & 0xff,
                 found.location >> 3 & 0x1f, found.location & 7);
        for (uint32_t i = 0; found.simd_count && i < node->gpu_count; i++)
            if (node->gpus[i].vendor == NUIOA_GPU_AMD && !strcmp(node->gpus[i].pci, pci))
                devices[i].kfd = devices[i].kfd || found.location >> 16 ? KFD_SEVERAL : n;
    }
    for (uint32_t i = 0; i < node->gpu_count; i++)
        if (devices[i].kfd == KFD_SEVERAL) {
            devices[i].kfd = 0;
            devices[i].divided = true;
        }
}

/* The links go through the directory of the PCI function, such as
 * "../../devices/pci0000:00/0000:00:02.0/drm/renderD128". */
int nuioa_render_node(int drm, const char *pci)
{
    static const char prefix[] = "renderD";
    const size_t length = sizeof(prefix) - 1;
    char part[40];
    int found = -1;
    DIR *dir = nuioa_sysfs_list(drm, ".");
    snprintf(part, sizeof(part), "/%s/", pci);
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char link[512];
        uint32_t number;
        if (!strncmp(entry->d_name, prefix, length) &&
            !nuioa_parse_u32(entry->d_name + length, MINOR_MAX, &number) &&
            (found < 0 || (int)number < found) &&
            !nuioa_sysfs_link(drm, link, sizeof(link), entry->d_name) && strstr(link, part))
            found = (int)number;
    }
    closedir(dir);
    return found;
}

uint32_t nuioa_gpu_devices_read(const struct nuioa_node *node, const char *root,
                                struct nuioa_gpu_device *devices)
{
    struct nuioa_sysfs sysfs;
    uint32_t known = 0;
    memset(devices, 0, node->gpu_count * sizeof(*devices));
    if (node->emulated && !*root)
        return 0;
    int fd = open(*root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    nuioa_sysfs_open(&sysfs, root);
    for (uint32_t i = 0; i < node->gpu_count; i++) {
        const struct nuioa_gpu *gpu = &node->gpus[i];
        struct nuioa_gpu_device *device = &devices[i];
        if (gpu->vendor == NUIOA_GPU_NVIDIA)
            read_nvidia(fd, gpu->pci, device);
        else if (gpu->vendor == NUIOA_GPU_AMD)
            read_amd(sysfs.pci, gpu->pci, device);
        int render = *device->file ? -1 : nuioa_render_node(sysfs.drm, gpu->pci);
        if (render >= 0)
            snprintf(device->file, sizeof(device->file), "/dev/dri/renderD%d", render);
        known += *device->file != '\0';
    }
    nuioa_sysfs_close(&sysfs);
    read_kfd(node, fd, devices);
    if (fd >= 0)
        close(fd);
    return known;
}

bool nuioa_gpus_openable(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                         hwloc_bitmap_t gpus)
{
    hwloc_bitmap_zero(gpus);
    for (uint32_t i = 0; i < node->gpu_count; i++) {
        bool denied = *devices[i].file && access(devices[i].file, R_OK | W_OK);
        bool known = *devices[i].file && (!denied || errno == EACCES || errno == EPERM);
        if (known && (denied || !hwloc_bitmap_set(gpus, i)))
            continue;
        hwloc_bitmap_zero(gpus);
        return false;
    }
    return true;
}
