/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_HEATMAP_H
#define NUIOA_TOOL_HEATMAP_H

#include "util/error.h"

struct probe;
struct probe_nics;

/* Writes the matrix of probe->latency, and the links of probe->graph, as an SVG picture to the file
 * `path`. Returns 0, or a negative errno with *err, and an older file stays. */
int probe_heatmap(const struct probe *probe, const char *path, struct nuioa_error *err);

/* Writes what was measured of the NICs, a row for each NIC and quantity and a column for each NUMA
 * node, the same way. */
int probe_nics_heatmap(const struct probe_nics *nics, const char *path, struct nuioa_error *err);

#endif
