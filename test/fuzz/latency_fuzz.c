/* SPDX-License-Identifier: BSD-3-Clause */

/* A matrix of latencies, and the graph of links and the distances that follow from it. */

#include <stdlib.h>

#include "input.h"
#include "tools/probe/latency.h"
#include "tools/probe/link_graph.h"

enum { COUNT_MAX = 24 };

static void infer(const struct nuioa_latency *latency)
{
    struct nuioa_link_graph graph;
    struct nuioa_error err;
    uint32_t matrix[COUNT_MAX * COUNT_MAX];
    if (!INPUT_HOLDS(!nuioa_link_graph_infer(&graph, latency, &err)))
        return;
    INPUT_CHECK(graph.accepted == !graph.reason[0]);
    for (uint32_t i = 0; graph.accepted && i < graph.link_count; i++)
        INPUT_CHECK(graph.links[i].a < graph.links[i].b && graph.links[i].b < graph.count);
    for (uint32_t i = 0; graph.accepted && i < graph.count; i++)
        INPUT_CHECK(nuioa_link_graph_degree(&graph, i) < graph.count);
    if (graph.accepted)
        nuioa_link_graph_distances(&graph, latency, matrix);
    nuioa_arena_free(&graph.arena);
}

/* The reader of files takes megabytes of memory, so only some inputs go through it. */
static int read_matrix(struct nuioa_latency *latency, const uint8_t *data, size_t size)
{
    struct nuioa_error err;
    struct input input = { data, size };
    if (size % 16 == 0)
        return nuioa_latency_read(latency, input_file("latencies", data, size), &err);
    char *text = input_text(&input);
    int rc = nuioa_latency_parse(latency, "text", text, size, &err);
    free(text);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nuioa_latency latency;
    if (read_matrix(&latency, data, size))
        return 0;
    latency.noise_ns = size % 3;
    /* Numbers that nuioa measures itself are not limited as those of a text are. */
    if (size % 16 == 1 && latency.count > 1)
        latency.over_ns[1] *= 1e9;
    if (latency.count <= COUNT_MAX)
        infer(&latency);
    nuioa_latency_free(&latency);
    return 0;
}
