/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_MULTILEVEL_H
#define NUIOA_MAPPING_MULTILEVEL_H

#include "mapping/bipartition.h"

/* Multilevel bipartitioning: G. Karypis, V. Kumar, "A Fast and High Quality Multilevel Scheme for
 * Partitioning Irregular Graphs", 1998. Coarsens the graph by heavy-edge matching down to
 * cut->coarsest_count vertices, or until few match; divides the coarsest graph with
 * nuioa_bipartition_flat; and improves the sides each time the graph is made finer again. */
nuioa_bipartitioner nuioa_bipartition_multilevel;

#endif
