/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_LINK_GROUP_H
#define NUIOA_TOOL_PROBE_LINK_GROUP_H

#include <stdint.h>

/* The pairs between groups of NUMA nodes, for link_graph.h. In all functions `mean` has n * n
 * latencies in ns, row-major and the same in both directions; `group` has n numbers below n, equal
 * for nodes of one group. */

/* All pairs between two groups; near ones are below the cut. */
struct nuioa_link_between {
    uint32_t pairs, near;
    double sum, near_sum, last_near, first_far;
};

/* Judges each two groups that have a pair below `cut_ns`. Their pairs are of two kinds if those
 * above the cut are farther by about `link_ns`, the time of a link inside of a group, and a gap
 * lies between. Else they are alike, and what they differ by is noise: then alike_ns[n * n] gets,
 * for each of them, the mean of them all; the rest of it stays. A single pair is not called alike.
 * `between` is [n * n], for the function's own use. */
void nuioa_link_group_judge(const double *mean, uint32_t n, const uint32_t *group, double cut_ns,
                            double link_ns, struct nuioa_link_between *between, double *alike_ns);

#endif
