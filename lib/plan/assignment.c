/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/assignment.h"

#include <stdio.h>
#include <stdlib.h>

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
    default: snprintf(text, size, "default"); return text;
    }
}

const char *nuioa_places_text(const struct nuioa_assignment *assignment, char *text, size_t size)
{
    size_t used = 0;
    for (uint32_t i = 0; i < assignment->place_count; i++) {
        /* OMP_PLACES accepts "{0,1}" and "{0:2}", but not the kernel's "0-1". */
        int n = snprintf(text + used, size - used, "%s{", i ? "," : "");
        unsigned cpu;
        bool first = true;
        hwloc_bitmap_foreach_begin(cpu, assignment->places[i])
        {
            if (n >= 0 && (size_t)n < size - used) {
                used += (size_t)n;
                n = snprintf(text + used, size - used, "%s%u", first ? "" : ",", cpu);
                first = false;
            }
        }
        hwloc_bitmap_foreach_end();
        if (n < 0 || (size_t)n + 1 >= size - used)
            return NULL;
        used += (size_t)n;
        text[used++] = '}';
        text[used] = '\0';
    }
    return used ? text : NULL;
}

void nuioa_assignment_drop_places(struct nuioa_assignment *assignment)
{
    for (uint32_t i = 0; i < assignment->place_count; i++)
        hwloc_bitmap_free(assignment->places[i]);
    free(assignment->places);
    assignment->places = NULL;
    assignment->place_count = 0;
}
