/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_H
#define NUIOA_TOOL_PROBE_H

#include <stdbool.h>
#include "tools/probe/latency.h"
#include "tools/probe/link_graph.h"
#include "topology/node.h"

/* The command `nuioa probe`: its options, and what it has found. */

/* Costs of a distance from the NIC, for plugstack.conf, from figures of a benchmark. */
struct probe_cost {
    double remote, hop; /* remote_cost and hop_cost; NAN: not known */
};

/* The options of --nic as they were typed (texts of argv; NULL if not given), and their meaning. */
struct probe_nic_options {
    bool asked, gpus;
    const char *names; /* of the NICs */
    const char *tool, *number;
    uint32_t rounds, limit_s;
    uint32_t groups; /* of the expression `number` */
    double busy[2];  /* processors that others kept busy before, and after; -1: unknown */
};

/* The options as they were typed (texts of argv; NULL if not given), and the results. tool_probe
 * owns it. */
struct probe {
    const char *matrix, *topology, *out, *heatmap, *throughput, *latency_figures;
    bool quick, check, json;
    uint32_t links_per_node; /* 0 if not given */
    double local_ns;         /* nanoseconds; 0 if not given */
    struct nuioa_node node;  /* without NUMA nodes: not loaded */
    uint32_t count;          /* rows of the matrix */
    uint32_t *numa;          /* [count] OS indexes of the NUMA nodes */
    uint32_t *index;         /* [count] their indexes in node.numas, if `node` is loaded */
    struct nuioa_latency latency;
    struct nuioa_link_graph graph;
    double *full_ns; /* [numa_count * numa_count] as measured, NaN if not measured; or NULL */
    struct nuioa_distance measured; /* for --out and --check, if the graph is accepted */
    struct nuioa_arena arena;       /* owns these arrays */
    struct probe_cost cost;
    struct probe_nic_options nic;
};

#endif
