/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_HEATMAP_H
#define NUIOA_TOOL_HEATMAP_H

#include "util/error.h"

struct probe;

/* Writes the matrix of probe->latency, and the links of probe->graph, as an SVG picture to the file
 * `path`. Returns 0, or a negative errno with *err, and an older file stays. */
int probe_heatmap(const struct probe *probe, const char *path, struct nuioa_error *err);

#endif
