/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_HOPSORT_H
#define NUIOA_MAPPING_HOPSORT_H

#include "mapping/problem.h"

/* Hop sort assigns tasks by descending weight to slots by ascending nic_cost. It ignores pairs and
 * the load of cards. Without these the result is optimal (rearrangement inequality). It does not
 * apply (-EINVAL) if a kind has more tasks than slots. Published as "palliative placement": S.
 * Moreaud, "Impact des architectures multiprocesseurs sur les communications dans les grappes de
 * calcul", master thesis, 2007, section 3.3.1. A task keeps its start slot where an equally good
 * result allows it. */
extern const struct nuioa_mapper nuioa_hopsort;

#endif
