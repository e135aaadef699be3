/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/server/locality.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/sysfs.h"
#include "util/text.h"

bool locality_is_bound(const struct nuioa_node *node, const struct nuioa_assignment *assignment)
{
    unsigned cpus = (unsigned)hwloc_bitmap_weight(assignment->cpus);
    return cpus > 0 && cpus < node->pu_count;
}

char *locality_cpuset(const struct nuioa_assignment *assignment)
{
    char *list = NULL, *text = NULL;
    if (hwloc_bitmap_list_asprintf(&list, assignment->cpus) < 0)
        return NULL;
    if (asprintf(&text, "hwloc:%s", list) < 0)
        text = NULL;
    free(list);
    return text;
}

unsigned locality_caches(const struct nuioa_node *node)
{
    unsigned caches = 0;
    int cpu = hwloc_bitmap_first(node->allowed_cpus);
    struct nuioa_sysfs sysfs;
    nuioa_sysfs_open(&sysfs, "");
    for (unsigned i = 0; i < 8; i++) {
        long level;
        /* the path is relative to a directory that every machine has */
        if (nuioa_sysfs_number(sysfs.net, &level,
                               "../../devices/system/cpu/cpu%d/cache/index%u/level", cpu, i) < 0)
            break;
        if (level > 0 && level < 8)
            caches |= 1u << level;
    }
    nuioa_sysfs_close(&sysfs);
    return caches;
}

/* --- the locality string --------------------------------------------------------------------- */

enum unit { UNIT_PACKAGE, UNIT_L3, UNIT_L2, UNIT_CORE, UNIT_THREAD, UNIT_NUMA, UNITS };
static const char unit_codes[UNITS][4] = { "SK", "L3", "L2", "CR", "HT", "NM" };

/* Returns the index of the unit that a PU is in; or -1 if there is none. */
static int64_t unit_of(const struct nuioa_node *node, uint32_t index, enum unit unit)
{
    const struct nuioa_pu *pu = &node->pus[index];
    const int64_t units[UNITS] = { pu->package, pu->l3, pu->l2, pu->core, index, pu->numa };
    return units[unit];
}

/* Makes *set the units of this kind that the CPUs are in. */
static void collect(const struct nuioa_node *node, hwloc_const_bitmap_t cpus, enum unit unit,
                    hwloc_bitmap_t set)
{
    hwloc_bitmap_zero(set);
    for (uint32_t i = 0; i < node->pu_count; i++)
        if (hwloc_bitmap_isset(cpus, node->pus[i].os_index) && unit_of(node, i, unit) >= 0)
            hwloc_bitmap_set(set, (unsigned)unit_of(node, i, unit));
}

char *locality_string(const struct nuioa_node *node, const struct nuioa_assignment *assignment,
                      unsigned caches)
{
    char *text = NULL, *list;
    size_t size;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    FILE *out = set ? open_memstream(&text, &size) : NULL;
    for (enum unit unit = 0; out && unit < UNITS; unit++) {
        unsigned level = unit == UNIT_L3 ? 3 : unit == UNIT_L2 ? 2 : 0;
        collect(node, assignment->cpus, unit, set);
        if ((level && !(caches & 1u << level)) || hwloc_bitmap_iszero(set) ||
            hwloc_bitmap_list_asprintf(&list, set) < 0)
            continue;
        fprintf(out, "%s%s%s", ftell(out) > 0 ? ":" : "", unit_codes[unit], list);
        free(list);
    }
    hwloc_bitmap_free(set);
    return out ? nuioa_text_close(out, &text) : NULL;
}

static uint32_t package_of(const struct nuioa_node *node, const struct nuioa_assignment *assignment)
{
    int pu = nuioa_node_pu(node, (unsigned)hwloc_bitmap_first(assignment->cpus));
    return pu < 0 ? UINT32_MAX : node->pus[pu].package;
}

void locality_package_ranks(const struct nuioa_node *node, const struct nuioa_plan *plan,
                            uint16_t *package_ranks)
{
    for (uint32_t i = 0; i < plan->task_count; i++) {
        uint32_t package = package_of(node, &plan->assignments[i]);
        package_ranks[i] = 0;
        for (uint32_t j = i; j-- > 0;)
            if (package_of(node, &plan->assignments[j]) == package) {
                package_ranks[i] = (uint16_t)(package_ranks[j] + 1);
                break;
            }
    }
}

/* --- distances from devices ------------------------------------------------------------------ */

static struct locality_device *add_device(struct locality_devices *devices,
                                          const struct nuioa_nic *nic, const char *name,
                                          pmix_device_type_t type)
{
    struct locality_device *device = &devices->list[devices->count++];
    device->nic = nic;
    device->type = type;
    nuioa_copy(device->name, sizeof(device->name), name);
    return device;
}

static void add_verbs(struct locality_devices *devices, const struct nuioa_sysfs *sysfs,
                      const struct nuioa_nic *nic)
{
    char node_guid[64], image_guid[64];
    for (unsigned i = 0; i < devices->count; i++)
        if (!strcmp(devices->list[i].name, nic->name))
            return; /* another port of this device is in the list already */
    if (!nic->port ||
        nuioa_sysfs_text(sysfs->verbs, node_guid, sizeof(node_guid), "%s/node_guid", nic->name) <=
            0 ||
        nuioa_sysfs_text(sysfs->verbs, image_guid, sizeof(image_guid), "%s/sys_image_guid",
                         nic->name) <= 0)
        return;
    struct locality_device *device = add_device(devices, nic, nic->name, PMIX_DEVTYPE_OPENFABRICS);
    snprintf(device->uuid, sizeof(device->uuid), "fab://%s::%s", node_guid, image_guid);
}

static void add_netdev(struct locality_devices *devices, const struct nuioa_sysfs *sysfs,
                       const struct nuioa_nic *nic)
{
    char address[96];
    unsigned colons = 0;
    if (!*nic->netdev ||
        nuioa_sysfs_text(sysfs->net, address, sizeof(address), "%s/address", nic->netdev) <= 0)
        return;
    for (const char *c = address; *c; c++)
        colons += *c == ':';
    /* PMIx knows two lengths: an address of 6 bytes, or of 20 bytes for IP over InfiniBand. */
    if (colons != 5 && colons != 19)
        return;
    struct locality_device *device = add_device(devices, nic, nic->netdev, PMIX_DEVTYPE_NETWORK);
    snprintf(device->uuid, sizeof(device->uuid), "%s://%s", colons == 5 ? "ipv4" : "ipv6", address);
}

/* Returns whether the distances from this NIC are published. A slow one is left out if no task uses
 * it, because a reader who takes the nearest NIC would choose it instead of a fast one. */
static bool is_wanted(const struct nuioa_node *node, const struct nuioa_plan *plan, uint32_t index)
{
    const struct nuioa_nic *nic = &node->nics[index];
    if (nic->locality == NUIOA_LOCALITY_UNKNOWN || hwloc_bitmap_iszero(nic->numas) ||
        nic->is_virtual)
        return false;
    bool used = nic->usable;
    for (uint32_t i = 0; i < plan->task_count && !used; i++)
        for (uint32_t k = 0; k < plan->assignments[i].nic_count; k++)
            used |= plan->assignments[i].nics[k] == index;
    return used;
}

int locality_devices_find(const struct nuioa_node *node, const struct nuioa_plan *plan,
                          struct locality_devices *devices)
{
    struct nuioa_sysfs sysfs;
    devices->count = 0;
    devices->list = calloc(2 * (size_t)node->nic_count + 1, sizeof(*devices->list));
    if (!devices->list)
        return -ENOMEM;
    nuioa_sysfs_open(&sysfs, "");
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (is_wanted(node, plan, i)) {
            add_verbs(devices, &sysfs, &node->nics[i]);
            add_netdev(devices, &sysfs, &node->nics[i]);
        }
    nuioa_sysfs_close(&sysfs);
    return 0;
}

/* Distances in the unit of a SLIT (ACPI 6.5, 5.2.17), where 10 is local; no other NUMA node is as
 * near as 11. */
enum { LOCAL = 10, SAME_NUMA_NODE = 11 };

/* Returns the distance of a PU from the nearest NUMA node to which the NIC is local. */
static uint32_t distance_to(const struct nuioa_node *node, const struct nuioa_nic *nic,
                            const struct nuioa_pu *pu)
{
    uint32_t least = UINT16_MAX;
    if (hwloc_bitmap_isset(nic->cpus, pu->os_index))
        return LOCAL;
    for (uint32_t i = 0; i < node->numa_count && pu->numa >= 0; i++) {
        if (!hwloc_bitmap_isset(nic->numas, node->numas[i].os_index))
            continue;
        uint32_t own = i == (uint32_t)pu->numa
                           ? SAME_NUMA_NODE
                           : nuioa_distance_at(&node->distance, i, (unsigned)pu->numa);
        least = own < least ? own : least;
    }
    return least;
}

/* Returns true if the device is one of nics[count]. A verbs device is that with each of its ports,
 * of which the list of devices has only one. */
static bool is_one_of(const struct nuioa_node *node, const uint32_t *nics, uint32_t count,
                      const struct locality_device *device)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct nuioa_nic *nic = &node->nics[nics[i]];
        if (nic == device->nic ||
            (device->type == PMIX_DEVTYPE_OPENFABRICS && !strcmp(nic->name, device->nic->name)))
            return true;
    }
    return false;
}

/* Replaces the distances of a rank that has GPUs: its own NICs are local, and no other NIC is. */
static void prefer_own(const struct nuioa_node *node, const struct nuioa_assignment *assignment,
                       const struct locality_device *device, pmix_device_distance_t *distance)
{
    bool own = is_one_of(node, assignment->nics, assignment->nic_count, device);
    if (own)
        distance->mindist = distance->maxdist = LOCAL;
    else if (distance->mindist == LOCAL)
        distance->mindist = SAME_NUMA_NODE;
    if (distance->maxdist < distance->mindist)
        distance->maxdist = distance->mindist;
}

unsigned locality_distances(const struct nuioa_node *node,
                            const struct nuioa_assignment *assignment,
                            const struct locality_devices *devices,
                            pmix_device_distance_t *distances)
{
    unsigned count = 0;
    for (unsigned d = 0; d < devices->count; d++) {
        struct locality_device *device = &devices->list[d];
        uint32_t least = UINT16_MAX, largest = 0;
        if (assignment->near_count &&
            !is_one_of(node, assignment->near, assignment->near_count, device))
            continue;
        for (uint32_t i = 0; i < node->pu_count; i++) {
            if (!hwloc_bitmap_isset(assignment->cpus, node->pus[i].os_index))
                continue;
            uint32_t distance = distance_to(node, device->nic, &node->pus[i]);
            least = distance < least ? distance : least;
            largest = distance > largest ? distance : largest;
        }
        distances[count] = (pmix_device_distance_t){ device->uuid, device->name, device->type,
                                                     (uint16_t)least, (uint16_t)largest };
        if (assignment->gpu_count)
            prefer_own(node, assignment, device, &distances[count]);
        count++;
    }
    return count;
}
