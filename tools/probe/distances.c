/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
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

uint32_t *probe_distances(const struct probe *p)
{
    uint32_t n = p->node.numa_count;
    uint32_t *matrix = malloc((size_t)n * n * sizeof(*matrix));
    uint32_t *part = malloc((size_t)p->count * p->count * sizeof(*part));
    if (!matrix || !part) {
        free(matrix);
        free(part);
        return NULL;
    }
    memcpy(matrix, p->node.distance.matrix, (size_t)n * n * sizeof(*matrix));
    for (uint32_t i = 0; i < n; i++)
        matrix[(size_t)i * n + i] = 10;
    if (p->full_ns)
        fill_measured(p, matrix);
    nuioa_link_graph_distances(&p->graph, &p->latency, part);
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->count; j++)
            matrix[(size_t)p->index[i] * n + p->index[j]] = part[(size_t)i * p->count + j];
    free(part);
    return matrix;
}
