/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/assignment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

const char *nuioa_memory_text(const struct nuioa_assignment *assignment, char *text, size_t size)
{
    static const char names[][12] = {
        [NUIOA_MEMORY_DEFAULT] = "default",
        [NUIOA_MEMORY_PREFERRED] = "preferred:",
        [NUIOA_MEMORY_INTERLEAVE] = "interleave:",
        [NUIOA_MEMORY_KEPT] = "kept",
    };
    char list[256] = "";
    if (strchr(names[assignment->memory], ':'))
        hwloc_bitmap_list_snprintf(list, sizeof(list), assignment->memory_numas);
    snprintf(text, size, "%s%s", names[assignment->memory], list);
    return text;
}

const char *nuioa_places_text(const struct nuioa_assignment *assignment, char *text, size_t size)
{
    struct nuioa_text t = nuioa_text_in(text, size);
    for (uint32_t i = 0; i < assignment->place_count; i++) {
        /* OMP_PLACES accepts "{0,1}" and "{0:2}", but not the kernel's "0-1". */
        const char *before = "";
        hwloc_const_bitmap_t place = assignment->places[i];
        nuioa_text_add(&t, "%s{", i ? "," : "");
        for (int cpu = hwloc_bitmap_first(place); cpu >= 0; cpu = hwloc_bitmap_next(place, cpu)) {
            nuioa_text_add(&t, "%s%d", before, cpu);
            before = ",";
        }
        nuioa_text_add(&t, "}");
    }
    return nuioa_text_is_whole(&t) ? text : NULL;
}

const char *nuioa_nics_text(const struct nuioa_assignment *assignment,
                            const struct nuioa_node *node, char *text, size_t size)
{
    struct nuioa_text t = nuioa_text_in(text, size);
    char label[48];
    for (uint32_t i = 0; i < assignment->nic_count; i++)
        nuioa_text_add(&t, "%s%s", i ? "," : "",
                       nuioa_nic_label(&node->nics[assignment->nics[i]], label, sizeof(label)));
    return nuioa_text_is_whole(&t) ? text : NULL;
}

const char *nuioa_gpus_text(const struct nuioa_assignment *assignment,
                            const struct nuioa_node *node, char *text, size_t size)
{
    struct nuioa_text t = nuioa_text_in(text, size);
    for (uint32_t i = 0; i < assignment->gpu_count; i++)
        nuioa_text_add(&t, "%s%s", i ? "," : "", node->gpus[assignment->gpus[i]].pci);
    return nuioa_text_is_whole(&t) ? text : NULL;
}

/* Returns the shortest path from a GPU to one of nics[count]. */
static enum nuioa_path shortest_path(const struct nuioa_node *node, uint32_t gpu,
                                     const uint32_t *nics, uint32_t count)
{
    enum nuioa_path shortest = NUIOA_PATH_UNKNOWN;
    for (uint32_t i = 0; i < count; i++) {
        enum nuioa_path path = nuioa_path_at(node, gpu, nics[i]);
        shortest = nuioa_path_shorter(path, shortest) ? path : shortest;
    }
    return shortest;
}

void nuioa_assignment_find_path(struct nuioa_assignment *assignment, const struct nuioa_node *node)
{
    assignment->path = NUIOA_PATH_UNKNOWN;
    for (uint32_t k = 0; k < assignment->gpu_count; k++) {
        enum nuioa_path shortest =
            shortest_path(node, assignment->gpus[k], assignment->nics, assignment->nic_count);
        if (!k || nuioa_path_shorter(assignment->path, shortest))
            assignment->path = shortest;
    }
}

/* --- the NICs of GPUs that a process sees ----------------------------------------------------- */

/* Sets near[usable->count] for the GPU. Returns how many are near. */
static uint32_t find_near(const struct nuioa_usable *usable, const struct nuioa_node *node,
                          uint32_t gpu, bool *near)
{
    enum nuioa_path shortest = shortest_path(node, gpu, usable->nics, usable->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < usable->count; i++) {
        uint32_t nic = usable->nics[i];
        near[i] = shortest != NUIOA_PATH_UNKNOWN
                      ? nuioa_path_at(node, gpu, nic) == shortest
                      : hwloc_bitmap_intersects(node->gpus[gpu].numas, node->nics[nic].numas);
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
        find_near(usable, node, g, other);
        place += !memcmp(near, other, usable->count * sizeof(*near));
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
