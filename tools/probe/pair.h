/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_PAIR_H
#define NUIOA_TOOL_PROBE_PAIR_H

#include "tools/probe/benchmark.h"
#include "topology/node.h"

/* Runs the two ends of a benchmark on this node, each with its CPUs and memory on one NUMA node.
 * Nothing that they start outlives the call. */

/* One end. */
struct probe_end {
    uint32_t numa; /* index into node->numas: where its CPUs and its memory are */
    int gpu;       /* as in struct probe_words: its buffer is in a GPU's memory; -1: it is not */
};

struct probe_pair {
    const struct nuioa_node *node;
    const struct nuioa_nic *nic;
    const struct probe_benchmark *benchmark;
    struct probe_end server, client;
    unsigned limit_s; /* seconds that a run may take */
};

/* Runs server and client of `pair`, between probe_processes_begin and probe_processes_end
 * (process.h). Returns 0 and sets *number, in MB/s or nanoseconds; or a negative errno, and *err
 * says in one line what happened, with the last line that the end at fault has printed: -EINTR if a
 * signal asked to stop. */
int probe_pair_run(const struct probe_pair *pair, double *number, struct nuioa_error *err);

#endif
