/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_CELLS_H
#define NUIOA_TOOL_PROBE_CELLS_H

#include "tools/probe/benchmark.h"
#include "tools/probe/pair.h"
#include "topology/nic_measured.h"
#include "topology/node.h"

/* What `nuioa probe --nic` measures: a cell for each NIC, quantity, and NUMA node or GPU, and its
 * values, one for each round. */

struct probe_cell {
    uint32_t nic;                            /* index into node->nics */
    uint32_t numa;                           /* index into node->numas; of a GPU the nearest one */
    int gpu;                                 /* index into node->gpus; -1: memory of the host */
    enum probe_quantity quantity;            /* what it tells */
    const struct probe_benchmark *benchmark; /* NULL: there is none, and why is in `err` */
    double *values;                          /* [count], in MB/s or nanoseconds */
    uint32_t count;
    double median;          /* 0: there is none */
    struct nuioa_error err; /* why it is empty; "" if it is not */
};

/* How it is measured. The node and the texts are the caller's. */
struct probe_nic_plan {
    const struct nuioa_node *node;
    const bool *taken;                    /* [nic_count]: the NICs to be measured */
    bool gpus;                            /* memory of GPUs too */
    const char *benchmark;                /* name of one of the table; or NULL */
    const struct probe_benchmark *custom; /* of the command line; or NULL */
    uint32_t rounds;                      /* values for each cell */
    unsigned limit_s;                     /* seconds for each run */
};

struct probe_nics {
    struct probe_nic_plan plan;
    struct probe_cell *cells;
    uint32_t count;
    double mad[PROBE_QUANTITIES];   /* pooled over all cells, over their medians; 0: no values */
    double busy_before, busy_after; /* processors that others kept busy; -1: unknown */
};

/* Returns true if a benchmark can be bound to a NUMA node, which is an index into node->numas. */
bool probe_numa_is_usable(const struct nuioa_node *node, uint32_t numa);

/* Makes all cells of a plan; *nics is overwritten. Returns 0, or -ENOMEM.
 * In both cases the caller frees *nics with probe_nics_free. */
int probe_nics_init(struct probe_nics *nics, const struct probe_nic_plan *plan);

/* Measures all cells, in an order that is shuffled in each round, and shows progress on stderr,
 * between probe_processes_begin and probe_processes_end (process.h). A cell that fails once stays
 * empty. Returns 0; or with *err -EINTR if a signal asked to stop, or -ENOMEM. */
int probe_nics_measure(struct probe_nics *nics, struct nuioa_error *err);

/* Computes the medians and how they spread. probe_nics_measure does it. */
void probe_nics_settle(struct probe_nics *nics);

/* Returns the cell of that NIC, quantity and NUMA node (GPUs' are never meant) with a median, or
 * NULL. */
const struct probe_cell *probe_cell_at(const struct probe_nics *nics, uint32_t nic,
                                       enum probe_quantity quantity, uint32_t numa);

/* Frees what *nics owns and makes it empty. */
void probe_nics_free(struct probe_nics *nics);

#endif
