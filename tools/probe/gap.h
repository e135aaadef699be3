/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_GAP_H
#define NUIOA_TOOL_PROBE_GAP_H

#include "tools/probe/cells.h"
#include "tools/probe/probe.h"

/* Computes what distance from the NIC costs here, from the rates at which the cards write: the mean
 * of the NUMA nodes beside them against that of each level, over all NICs. A difference that is
 * below four standard errors is none, and a single round does not tell these. *cost is overwritten;
 * its members has_remote and has_hop are false where there is nothing to compare. Returns the least
 * difference that would be believed, over the rate beside the NIC; 0 where there is nothing to
 * compare. */
double probe_gap(const struct probe_nics *nics, struct probe_cost *cost);

#endif
