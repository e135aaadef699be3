/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_GROUP_H
#define NUIOA_MAPPING_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* One level of TreeMatch (source: affinity_tree.h): divides tasks, or groups of tasks, into groups
 * of `arity` members that will share one node of the machine's tree. matrix[count * count] is the
 * traffic between them, symmetric, with a diagonal of 0. Its unit does not matter; traffic that is
 * returned has the same unit. */

/* Returns the traffic between a group and everything outside it: the sum of the members' rows less
 * the traffic between members, in both directions, as in the published example. members[arity],
 * indexes into the matrix, must all be different. The matrix is not changed. */
double nuioa_group_weight(const double *matrix, uint32_t count, const uint32_t *members,
                          uint32_t arity);

/* Fills group_of[count] with groups of `arity` members; count must be a multiple of it. If all
 * possible groups can be listed, they are the vertices of the incompatibility graph (an edge joins
 * two groups with a common member), and a greedy search from several of the lightest groups finds
 * an independent set of low total weight. Otherwise each group grows from the pair with the most
 * traffic. Groups are numbered from 0, in the order of their lowest members. The caller
 * allocates group_of[count]. Returns 0; or -ENOMEM, and group_of is then undefined. */
int nuioa_group(const double *matrix, uint32_t count, uint32_t arity, uint32_t *group_of);

/* Fills the caller's aggregate[groups * groups] with the traffic between groups; its diagonal is 0.
 * group_of[count] is the group of each member, below `groups`. It cannot fail. */
void nuioa_aggregate(const double *matrix, uint32_t count, const uint32_t *group_of,
                     uint32_t groups, double *aggregate);

/* Returns true if the possible groups of `arity` among `count` are few enough for nuioa_group to
 * list them: at most 4096. Returns false if they are more, or if `arity` is above `count`. */
bool nuioa_group_listable(uint32_t count, uint32_t arity);

#endif
