/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_BIPARTITION_H
#define NUIOA_MAPPING_BIPARTITION_H

#include <stdint.h>

#include "mapping/problem.h"
#include "mapping/random.h"

/* A graph whose vertices are to be divided between two sides. All arrays belong to the caller. A
 * vertex is one task, or several tasks that stay together. The cost is the sum of `bytes` over the
 * edges between the sides (the cut) plus the sum of `bias` over the vertices on side 1. */
struct nuioa_bipartition {
    uint32_t count; /* vertices */
    uint32_t *size; /* [count]: how many tasks the vertex is */
    uint32_t *kind; /* [count]: the kind of its tasks, < kind_count */
    uint32_t kind_count;
    uint32_t *limit[2]; /* [kind_count]: how many tasks of a kind each side can take */
    double *bias;       /* [count]: how much more the vertex costs on side 1 than on side 0 */
    uint32_t *row;      /* [count + 1]: edges of v are row[v] .. row[v+1]-1 of the next two */
    uint32_t *peer;     /* [row[count]]: the vertex at the other end */
    double *bytes;      /* [row[count]]: bytes times the price of a byte between the sides; may be
                                negative */
    uint32_t coarsest_count; /* coarsening ends when there are no more vertices than this */
    uint32_t tries;          /* nuioa_bipartition_flat starts from so many vertices */
    uint8_t *side;           /* [count]: 0 or 1, the result */
};

/* Fills cut->side with a division of low cost; nothing else in *cut is changed. The limits are kept
 * where the sizes of the vertices allow it. *random is the source of random numbers, and is
 * advanced. The work is added to *budget; when the budget is used up, the division is finished, but
 * no longer improved. Returns 0; or -ENOMEM, and cut->side is then undefined. */
typedef int nuioa_bipartitioner(struct nuioa_bipartition *cut, struct nuioa_random *random,
                                struct nuioa_budget *budget);

/* Greedy graph growing (Karypis & Kumar, see multilevel.h): side 0 grows from each of cut->tries
 * vertices (at least 1), each result is improved, the best is kept. */
nuioa_bipartitioner nuioa_bipartition_flat;

/* Improves the division in cut->side by moving single vertices: C. Fiduccia, R. Mattheyses,
 * "A Linear-Time Heuristic for Improving Network Partitions", 1982. First it brings sides that are
 * too full below their limits, then it lowers the cost. *gain is by how much the cost fell;
 * it is negative if the limits made it rise. The work is added to *budget; when the budget is used
 * up, only the limits are still enforced. Returns 0; or -ENOMEM, and the division is unchanged. */
int nuioa_bipartition_improve(struct nuioa_bipartition *cut, double *gain,
                              struct nuioa_budget *budget);

#endif
