/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_BIPARTITION_H
#define NUIOA_MAPPING_BIPARTITION_H

#include "mapping/search.h"

/* A graph to be cut in two, each vertex one task or several that stay together. */
struct nuioa_bipartition {
    uint32_t count;
    uint32_t *size; /* [count]: tasks */
    uint32_t *kind; /* [count] */
    uint32_t kind_count;
    uint32_t *limit[2]; /* [kind_count]: tasks of that kind a side can take */
    double *lean;       /* [count]: by how much side 1 costs more, neighbours in the cut aside */
    uint32_t *row;      /* [count + 1] */
    uint32_t *peer;
    double *bytes;   /* times what cutting a byte costs; may be negative */
    uint32_t enough; /* vertices at which coarsening ends */
    uint32_t tries;  /* vertices to grow a half from; the best cut counts */
    uint8_t *side;   /* [count]: the answer */
};

/* Fills cut->side, as good as it finds; limits are kept where sizes allow. 0 or -ENOMEM. */
typedef int nuioa_bipartitioner(struct nuioa_bipartition *cut, struct nuioa_random *random,
                                struct nuioa_budget *budget);

/* Grows side 0 from `tries` vertices, improves each, keeps the best. */
nuioa_bipartitioner nuioa_bipartition_flat;

/* The same, on a coarser graph first where there are many vertices. */
nuioa_bipartitioner nuioa_bipartition_multilevel;

/* Moves vertices across, as Fiduccia and Mattheyses do, from the sides given: what is too full is
 * mended first, then the cost falls, in the end by *gain. 0 or -ENOMEM. */
int nuioa_bipartition_improve(struct nuioa_bipartition *cut, double *gain,
                              struct nuioa_budget *budget);

#endif
