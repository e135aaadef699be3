/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/gpu_nics_text.h"

#include <stdlib.h>

#include "util/text.h"

/* Returns true if NIC `nic` is near to the GPU, whose shortest path to any NIC is `shortest`. */
static bool is_near(const struct nuioa_node *node, uint32_t gpu, uint32_t nic,
                    enum nuioa_path shortest)
{
    if (shortest != NUIOA_PATH_UNKNOWN)
        return nuioa_path_at(node, gpu, nic) == shortest;
    return hwloc_bitmap_intersects(node->gpus[gpu].numas, node->nics[nic].numas);
}

/* Sets near[usable->count] for the GPU. Returns how many are near. */
static uint32_t find_near(const struct nuioa_usable *usable, const struct nuioa_node *node,
                          uint32_t gpu, bool *near)
{
    enum nuioa_path shortest = NUIOA_PATH_UNKNOWN;
    uint32_t count = 0;
    for (uint32_t i = 0; i < usable->count; i++) {
        enum nuioa_path path = nuioa_path_at(node, gpu, usable->nics[i]);
        shortest = nuioa_path_shorter(path, shortest) ? path : shortest;
    }
    for (uint32_t i = 0; i < usable->count; i++) {
        near[i] = is_near(node, gpu, usable->nics[i], shortest);
        count += near[i];
    }
    return count;
}

/* Returns how many GPUs before this one have the same nearest NICs. `other` is room for
 * near[usable->count]. */
static uint32_t place_among_equals(const struct nuioa_usable *usable, const struct nuioa_node *node,
                                   uint32_t gpu, const bool *near, bool *other)
{
    uint32_t place = 0;
    for (uint32_t g = 0; g < gpu; g++) {
        bool same = true;
        find_near(usable, node, g, other);
        for (uint32_t i = 0; i < usable->count; i++)
            same = same && near[i] == other[i];
        place += same;
    }
    return place;
}

/* Appends the near NICs, the one that comes `first` among them first. */
static void append_nics(struct nuioa_text *g, const struct nuioa_usable *usable,
                        const struct nuioa_node *node, const bool *near, uint32_t count,
                        uint32_t first)
{
    char label[48];
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0, k = 0; i < usable->count; i++)
            if (near[i] && (k++ >= first % count) == !round)
                nuioa_text_add(g, "%s%s", g->text[g->used - 1] == '=' ? "" : "+",
                               nuioa_nic_label(&node->nics[usable->nics[i]], label, sizeof(label)));
}

const char *nuioa_gpu_nics_text(const struct nuioa_usable *usable, const struct nuioa_node *node,
                                const uint32_t *gpus, uint32_t count, char *text, size_t size)
{
    struct nuioa_text g = nuioa_text_in(text, size);
    bool *near = calloc(2 * (size_t)usable->count + 1, sizeof(*near));
    for (uint32_t i = 0; near && !g.lost && i < count; i++) {
        uint32_t found = find_near(usable, node, gpus[i], near);
        if (!found)
            continue;
        nuioa_text_add(&g, "%s%s=", g.used ? ";" : "", node->gpus[gpus[i]].pci);
        if (!g.lost)
            append_nics(&g, usable, node, near, found,
                        place_among_equals(usable, node, gpus[i], near, near + usable->count));
    }
    free(near);
    return nuioa_text_is_whole(&g) ? text : NULL;
}
