/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/assignment.h"

#include <stdio.h>
#include <string.h>

#include "util/text.h"

static const char *numas_text(const char *policy, hwloc_const_bitmap_t numas, char *text,
                              size_t size)
{
    char list[256];
    hwloc_bitmap_list_snprintf(list, sizeof(list), numas);
    snprintf(text, size, "%s:%s", policy, list);
    return text;
}

const char *nuioa_memory_text(const struct nuioa_assignment *assignment, char *text, size_t size)
{
    switch (assignment->memory) {
    case NUIOA_MEMORY_PREFERRED:
        return numas_text("preferred", assignment->memory_numas, text, size);
    case NUIOA_MEMORY_INTERLEAVE:
        return numas_text("interleave", assignment->memory_numas, text, size);
    case NUIOA_MEMORY_KEPT: snprintf(text, size, "kept"); return text;
    default: snprintf(text, size, "default"); return text;
    }
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

static bool same_numbers(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    return a_count == b_count && (!a_count || !memcmp(a, b, a_count * sizeof(*a)));
}

bool nuioa_same_devices(const struct nuioa_assignment *a, const struct nuioa_assignment *b)
{
    return same_numbers(a->nics, a->nic_count, b->nics, b->nic_count) &&
           same_numbers(a->gpus, a->gpu_count, b->gpus, b->gpu_count);
}

void nuioa_assignment_find_path(struct nuioa_assignment *assignment, const struct nuioa_node *node)
{
    assignment->path = NUIOA_PATH_UNKNOWN;
    for (uint32_t k = 0; k < assignment->gpu_count; k++) {
        enum nuioa_path shortest = NUIOA_PATH_UNKNOWN;
        for (uint32_t i = 0; i < assignment->nic_count; i++) {
            enum nuioa_path path = nuioa_path_at(node, assignment->gpus[k], assignment->nics[i]);
            shortest = nuioa_path_shorter(path, shortest) ? path : shortest;
        }
        if (!k || nuioa_path_shorter(assignment->path, shortest))
            assignment->path = shortest;
    }
}
