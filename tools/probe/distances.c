/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tools/probe/probe.h"
#include "tools/probe/distances.h"

static uint32_t scaled(double over_ns, double local_ns)
{
    return (uint32_t)(10.5 + 10 * fmax(0, fmin(over_ns / local_ns, 1e5 - 1)));
}

static void fill_measured(const struct probe *p, uint32_t *matrix)
{
    uint32_t n = p->node.numa_count;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double there = p->full_ns[(size_t)i * n + j], back = p->full_ns[(size_t)j * n + i];
            double known = isnan(there) ? back : there;
            if (i != j && !isnan(known))
                matrix[(size_t)i * n + j] =
                    scaled(known - p->latency.local_ns, p->latency.local_ns);
        }
}

int probe_distances(struct probe *p)
{
    uint32_t n = p->node.numa_count;
    size_t cells = (size_t)n * n;
    uint32_t *matrix = nuioa_arena_take(&p->arena, cells, sizeof(*matrix));
    uint32_t *part = nuioa_arena_take(&p->arena, (size_t)p->count * p->count, sizeof(*part));
    p->measured = (struct nuioa_distance){
        .count = n,
        .matrix = matrix,
        .level = nuioa_arena_take(&p->arena, cells, sizeof(*p->measured.level)),
    };
    if (p->arena.failed)
        return -ENOMEM;
    memcpy(matrix, p->node.distance.matrix, cells * sizeof(*matrix));
    for (uint32_t i = 0; i < n; i++)
        matrix[(size_t)i * n + i] = 10;
    if (p->full_ns)
        fill_measured(p, matrix);
    nuioa_link_graph_distances(&p->graph, &p->latency, part);
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->count; j++)
            matrix[(size_t)p->index[i] * n + p->index[j]] = part[(size_t)i * p->count + j];
    nuioa_distance_levels(&p->measured, &p->node);
    return 0;
}
