/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_LINK_GRAPH_H
#define NUIOA_TOPOLOGY_LINK_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/latency.h"
#include "util/error.h"

/* Which NUMA nodes are linked, from what accesses between them take (Moreaud, master thesis 2007,
 * 3.3.2: on the 8-socket Opteron, the smallest entries of table 3.1 are its 11 HyperTransport
 * links, the others are about multiples of the 34 ns of one link, and where the two directions
 * differ, the routes do).
 *
 * How:
 * - a pair counts with the mean of both directions, which halves the variance of noise; links are
 *   the pairs below the widest gap around 1.5 times the mean of the links, which is settled from
 *   the n-1 smallest pairs on, since a connected graph has at least as many links;
 * - the quantum, the time of one link, is the least-squares fit of all entries to multiples of half
 *   a quantum (half: request and answer may take routes of different length, same section);
 * - hops are shortest paths over the links; routed is an entry in quanta, rounded: the route that
 *   was measured, which may be longer, and differ between the directions;
 * - if the pairs below the cut do not connect all nodes, these are groups (packages, several NUMA
 *   nodes each) whose own links take longer: the nearest pairs between groups are links too, until
 *   all is connected. Then one number of ns no longer stands for one link: quantum is that inside
 *   the groups, and routed = hops.
 *
 * Where nothing lies above the cut there is no gap, and what is all linked must be equally far (by
 * 5 %). On a mesh, a ring or a hypercube where leaving a NUMA node takes longer than a link (60 ns
 * + 10 ns a link) the far pairs would seem to be linked too; what tells them from noise is that
 * their two directions agree.
 *
 * What is refused, by the matrix's own quality: numbers that are no times; remote not slower than
 * local (beyond the noise, if that is known, and NUIOA_LINK_GRAPH_LEAST of the local access, if
 * that is); no clear gap; links that differ as much as noise does, or alike in both directions; a
 * pair nearer than any path over the links can be. With noise of 4 and 6 ns on each entry, on links
 * of 34 ns, the right graph comes out in at least 99 % and 95 % of trials, and a wrong one is
 * accepted in less than 1 % (test/unit/link_graph_test.c). With more noise fewer are accepted, and
 * up to 8 % are accepted and wrong: a matrix that is both smooth and wrong cannot be told from a
 * right one. */
#define NUIOA_LINK_GRAPH_LEAST 0.02

struct nuioa_link {
    uint32_t a, b; /* a < b, rows of the matrix */
};

struct nuioa_link_graph {
    uint32_t count;
    bool accepted;
    char reason[160];  /* why not, one line; "" if accepted */
    bool grouped;      /* groups of nodes, see above */
    double quantum_ns; /* 0: no pair, or none that could be a link */
    uint32_t link_count;
    struct nuioa_link *links; /* in order */
    uint32_t *hops;           /* count * count */
    uint32_t *routed;         /* count * count */
};

/* Fills *graph (release with nuioa_link_graph_free). 0, whether accepted or not; or -ENOMEM, *err
 * set. */
int nuioa_link_graph_infer(struct nuioa_link_graph *graph, const struct nuioa_latency *latency,
                           struct nuioa_error *err);

void nuioa_link_graph_free(struct nuioa_link_graph *graph);

/* How many links the node has. */
uint32_t nuioa_link_graph_degree(const struct nuioa_link_graph *graph, uint32_t node);

/* Distances on the scale of a SLIT, 10 = local, from an accepted graph: 10 + 10 * over / local,
 * where `over` is routed * quantum, so that noise makes no classes of its own (with groups: the
 * mean of both directions). If what local access takes is not known, one quantum stands for it: one
 * link is 20. `matrix` has room for count * count. */
void nuioa_link_graph_distances(const struct nuioa_link_graph *graph,
                                const struct nuioa_latency *latency, uint32_t *matrix);

#endif
