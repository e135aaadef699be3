/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_AFFINITY_TREE_H
#define NUIOA_MAPPING_AFFINITY_TREE_H

#include "mapping/problem.h"

/* The affinity tree is the TreeMatch algorithm: E. Jeannot, G. Mercier, "Near-Optimal Placement of
 * MPI Processes on Hierarchical NUMA Architectures", Euro-Par 2010. From the leaves of the
 * machine's tree upwards, tasks that communicate most become groups as large as the level's arity,
 * and these groups are grouped at the next level. It ignores weights. It does not apply (-EINVAL)
 * to more than 1,024 tasks. */
extern const struct nuioa_mapper nuioa_affinity_tree;

#endif
