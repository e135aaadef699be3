/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_LINK_GRAPH_H
#define NUIOA_TOOL_PROBE_LINK_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/probe/latency.h"
#include "util/arena.h"
#include "util/error.h"

/* Infers which NUMA nodes have a direct link, from the latencies between them. The idea is from
 * Moreaud's master thesis (2007), section 3.3.2: on the Opteron machine with 8 sockets, the
 * smallest entries of table 3.1 are its 11 HyperTransport links, and the other entries are about
 * multiples of the 34 ns of one link. Where the two directions of a pair differ, their routes
 * differ.
 *
 * The steps:
 * - The value of a pair is the mean of both directions, which halves the variance of noise. The
 *   links are the pairs below the cut: the middle of the widest gap around 1.5 times the mean of
 *   the links. The iteration begins with the n-1 smallest pairs, since a connected graph of n nodes
 *   has at least n-1 links.
 * - The quantum, the time of one link, is the least-squares fit of all entries to multiples of half
 *   a quantum. Halves occur because request and answer may take routes of different length.
 * - `hops` are shortest paths over the links (Floyd: "Algorithm 97: Shortest Path", 1962). `routed`
 *   is an entry divided by the quantum and rounded: the length of the route that was measured,
 *   which may be longer than the shortest path and differ between the directions.
 * - If the pairs below the cut do not connect all nodes, the connected parts are groups (packages
 *   with several NUMA nodes each), and crossing between groups takes longer. If the pairs between
 *   two groups are clearly of two kinds, the nearer ones become links too. Otherwise they are
 *   alike, and which of them have a link cannot be told. Groups are joined so until all nodes are
 *   connected. One time does not fit all links then: the quantum is the time of a link inside the
 *   groups, and `routed` equals `hops`, for which a pair of alike groups is one step.
 *
 * If no pair lies above the cut there is no gap, and then all pairs must be equally far, to within
 * 5 %. On a mesh, a ring or a hypercube where leaving a NUMA node takes longer than one link (60
 * ns, and 10 ns for each link) far pairs would seem to be linked too. Such differences are not
 * noise, because the two directions of a pair agree.
 *
 * A matrix is refused if a number is not a possible time; if remote memory is not slower than local
 * memory (by more than the noise, if that is known, and by more than NUIOA_LINK_GRAPH_LEAST of the
 * local access, if that is known); if there is no clear gap; if links differ as much as noise does,
 * or equally in both directions; or if a pair is nearer than any path over the links can be.
 *
 * With noise of 4 ns or 6 ns on each entry and links of 34 ns, the right graph is found in at least
 * 99 % or 95 % of the trials of test/unit/link_graph_test.c, and a wrong one is accepted in less
 * than 1 %. With more noise fewer matrices are accepted, and up to 8 % are accepted with a wrong
 * graph: a matrix that is smooth and wrong looks like a right one. */
#define NUIOA_LINK_GRAPH_LEAST 0.02

struct nuioa_link {
    uint32_t a, b; /* a < b, rows of the matrix */
};

/* The result. Its arena owns the arrays; those of count * count are row-major; hops and routed
 * count links. */
struct nuioa_link_graph {
    uint32_t count; /* rows of the matrix, one for each NUMA node */
    bool accepted;
    char reason[160];  /* one line, why the matrix was refused; "" if accepted */
    bool grouped;      /* the NUMA nodes form groups, see above */
    double quantum_ns; /* the time of one link; 0: no pair can be a link */
    uint32_t link_count;
    struct nuioa_link *links; /* ascending by a, then b */
    uint32_t *hops;           /* count * count */
    uint32_t *routed;         /* count * count */
    uint32_t *group;  /* of each row: the first row that links below the cut connect it with */
    double *alike_ns; /* count * count: the mean of all pairs between two groups if those are
                         alike, or 0; such a pair is no link */
    struct nuioa_arena arena;
};

/* Infers the graph of the matrix *latency, which is only read; *graph is overwritten. Returns 0 if
 * the matrix is accepted and also if it is refused (graph->accepted), and the caller frees
 * graph->arena; or -ENOMEM with *err, and there is nothing to free. */
int nuioa_link_graph_infer(struct nuioa_link_graph *graph, const struct nuioa_latency *latency,
                           struct nuioa_error *err);

/* Returns how many links the NUMA node in row `node` has. */
uint32_t nuioa_link_graph_degree(const struct nuioa_link_graph *graph, uint32_t node);

/* Computes distances on the scale of a SLIT (10 is local) from an accepted graph: 10 + 10 * over /
 * local, where `over` is routed * quantum, so that noise does not make levels of its own. For a
 * graph with groups, `over` is the mean of both directions, or of all pairs of two groups that are
 * alike. latency->local_ns must be known: without it the ratio of two distances, which scales what
 * neighbours cost, would be invented. `latency` is the matrix that the graph was inferred from.
 * Fills the caller's matrix[count * count], row-major. */
void nuioa_link_graph_distances(const struct nuioa_link_graph *graph,
                                const struct nuioa_latency *latency, uint32_t *matrix);

#endif
