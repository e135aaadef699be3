/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_H
#define NUIOA_TOOL_PROBE_H

#include <stdbool.h>
#include <stdio.h>

#include "topology/latency.h"
#include "topology/link_graph.h"
#include "topology/node.h"

/* What `nuioa probe` was asked, what it found, and how that is said. Private to the command. */

/* What a NIC's distance costs, for plugstack.conf; from figures of a benchmark. */
struct probe_cost {
    double remote, hop;
    bool has_remote, has_hop;
};

struct probe {
    const char *matrix, *topology, *out, *heatmap, *throughput, *latency_figures;
    const char *links_per_node_text;
    bool quick, check, json, help;
    uint32_t links_per_node; /* 0: not said */
    bool has_node;           /* node is loaded */
    struct nuioa_node node;
    uint32_t count;  /* rows of the matrix */
    uint32_t *numa;  /* [count] OS indexes of the NUMA nodes */
    uint32_t *index; /* [count] their places in node.numas, if has_node */
    struct nuioa_latency latency;
    struct nuioa_link_graph graph;
    double *full_ns; /* [numa_count squared] as measured, NaN where nothing was; or NULL */
    struct probe_cost cost;
};

/* Measures this machine: fills count, numa, index, latency, full_ns. 0, or negative with *err. */
int probe_measure(struct probe *probe, struct nuioa_error *err);

/* The matrix of all NUMA nodes of `node` for the site's file: from the graph, and for memory
 * without CPUs or CPUs without memory from what was measured in the other direction. [numa_count
 * squared], caller frees; NULL without memory. */
uint32_t *probe_distances(const struct probe *probe);

/* "1392,1071,1050": throughput with the process beside the NIC, one level away, two levels... Or,
 * if `is_time`, latencies. 0 or -EINVAL with *err. */
int probe_cost_read(struct probe_cost *cost, const char *figures, bool is_time,
                    struct nuioa_error *err);

void probe_print(const struct probe *probe, FILE *out);
void probe_print_cost(const struct probe_cost *cost, FILE *out);

/* What the firmware's table does not say. */
void probe_print_check(const struct probe *probe, FILE *out);

/* Prints to stdout; returns the exit status. */
int probe_json(const struct probe *probe);

/* Writes the picture. 0 or negative with *err. */
int probe_heatmap(const struct probe *probe, const char *path, struct nuioa_error *err);

#endif
