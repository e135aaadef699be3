/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_GROUP_H
#define NUIOA_MAPPING_GROUP_H

#include <stdint.h>

/* One step of TreeMatch (Jeannot & Mercier, Euro-Par 2010): who shares one node of the machine's
 * tree. matrix[count * count] is symmetric, its diagonal 0. */

/* What a group's members exchange with everybody else: the rows of all, less what stays inside.
 * Both directions of an inner pair are taken off, as in the published example (2118 for {0, 1}). */
double nuioa_group_weight(const double *matrix, uint32_t count, const uint32_t *members,
                          uint32_t arity);

/* Puts everybody into a group of `arity`; count must be a multiple of it. Where all possible groups
 * can be listed they are the vertices of the incompatibility graph (an edge joins groups with a
 * common member), and the independent set of least total weight is sought greedily from several
 * lightest groups; where not, groups grow around the pairs that talk most. Groups are numbered by
 * their lowest member. 0 or -ENOMEM. */
int nuioa_group(const double *matrix, uint32_t count, uint32_t arity, uint32_t *group_of);

/* Traffic between groups: aggregate[groups * groups] with a diagonal of 0. */
void nuioa_aggregate(const double *matrix, uint32_t count, const uint32_t *group_of,
                     uint32_t groups, double *aggregate);

/* True if all groups of `arity` among `count` can be listed. */
int nuioa_group_listable(uint32_t count, uint32_t arity);

#endif
