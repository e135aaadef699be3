/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_ACCEPT_H
#define NUIOA_TOOL_PROBE_ACCEPT_H

#include "tools/probe/cells.h"
#include "tools/probe/remote.h"

/* The acceptance of two nodes: `nuioa probe --nic --at-least` as the two tasks of a step. First the
 * task of the first node measures, as the client, and the other one serves; then they change.
 *
 * A pair is a NIC with a NUMA node here, and the NIC of the same label with a NUMA node there: each
 * NUMA node of either side with the one beside the NIC on the other side. */
struct probe_accept {
    const struct probe_step *step;
    struct probe_nic_plan plan; /* its `measure`, `context` and `title` are set here */
    double least;               /* share of the port's rate that a pair must reach */
    bool json;
    struct probe_peer peer; /* met already (peer.h) */
    struct probe_remote remote;
};

/* Measures and prints what this node has measured, between probe_processes_begin and
 * probe_processes_end (process.h). Returns the exit status (tool.h): TOOL_DONE if all pairs that
 * this node has measured reach `least`. */
int probe_accept(struct probe_accept *accept);

#endif
