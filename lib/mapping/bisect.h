/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_BISECT_H
#define NUIOA_MAPPING_BISECT_H

#include "mapping/search.h"

/* One division of a graph's tasks among its classes, into at[count]: the machine and the tasks are
 * halved together until each part is one class, the NIC, and the neighbours that already went
 * elsewhere, pulling each task to one side. What is not known until the end is guessed, otherwise
 * for each of six `guess`es in a row; `tries` cuts are made of each part and the best one taken:
 * many find the best cut, few a different whole. The caller improves the result by swaps. 0,
 * -ENOMEM, or -EINVAL if tasks do not fit. */
int nuioa_bisect_once(const struct nuioa_graph *graph, uint32_t guess, uint32_t tries,
                      struct nuioa_random *random, uint32_t *at, struct nuioa_budget *budget);

#endif
