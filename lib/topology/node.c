/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/node.h"

#include <stdlib.h>
#include <string.h>

void nuioa_node_refuse(struct nuioa_node *node, const char *text)
{
    unsigned before = node->warnings.count;
    nuioa_warn(&node->warnings, "%s", text);
    if (node->warnings.count > before)
        node->refusals |= 1u << before;
}

const char *nuioa_node_distances_unused(const struct nuioa_node *node)
{
    for (unsigned i = 0; i < node->warnings.count; i++)
        if (!strncmp(node->warnings.text[i], "distances not used", 18))
            return node->warnings.text[i];
    return NULL;
}

void nuioa_node_free(struct nuioa_node *node)
{
    for (uint32_t i = 0; node->numas && i < node->numa_count; i++)
        hwloc_bitmap_free(node->numas[i].cpus);
    for (uint32_t i = 0; node->nics && i < node->nic_count; i++) {
        hwloc_bitmap_free(node->nics[i].numas);
        hwloc_bitmap_free(node->nics[i].cpus);
        free(node->nics[i].level);
        free(node->nics[i].measured);
    }
    for (uint32_t i = 0; node->gpus && i < node->gpu_count; i++) {
        hwloc_bitmap_free(node->gpus[i].numas);
        hwloc_bitmap_free(node->gpus[i].cpus);
    }
    free(node->pus);
    free(node->numas);
    free(node->nics);
    free(node->gpus);
    free(node->paths);
    free(node->distance.matrix);
    free(node->distance.level);
    hwloc_bitmap_free(node->allowed_cpus);
    hwloc_bitmap_free(node->allowed_numas);
    memset(node, 0, sizeof(*node));
}

int nuioa_node_pu(const struct nuioa_node *node, unsigned os_index)
{
    for (uint32_t i = 0; i < node->pu_count; i++)
        if (node->pus[i].os_index == os_index)
            return (int)i;
    return -1;
}

int nuioa_node_numa(const struct nuioa_node *node, unsigned os_index)
{
    for (uint32_t i = 0; i < node->numa_count; i++)
        if (node->numas[i].os_index == os_index)
            return (int)i;
    return -1;
}

uint32_t nuioa_node_numas_with_cpus(const struct nuioa_node *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->numa_count; i++)
        count += !hwloc_bitmap_iszero(node->numas[i].cpus);
    return count;
}

void nuioa_node_numas_of(const struct nuioa_node *node, hwloc_const_bitmap_t cpus,
                         hwloc_bitmap_t numas)
{
    hwloc_bitmap_zero(numas);
    for (uint32_t i = 0; i < node->pu_count; i++)
        if (node->pus[i].numa >= 0 && hwloc_bitmap_isset(cpus, node->pus[i].os_index))
            hwloc_bitmap_set(numas, node->numas[node->pus[i].numa].os_index);
}

const char *nuioa_gpu_vendor_name(enum nuioa_gpu_vendor vendor)
{
    static const char names[NUIOA_GPU_VENDORS][8] = { "other", "nvidia", "amd", "intel" };
    return names[vendor];
}
