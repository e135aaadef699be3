/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_PLAN_WORDS_H
#define TEST_PLAN_WORDS_H

#include "plan_case.h"

/* Plans described in words: the machine, the request and the options, in this order:
 *
 *     hagrid=5 (machine.h) | quad | plain=2x4 (machine_plain) | row (three NUMA nodes of two cores)
 *     nic=1 gpu=0 (one more, on this NUMA node), cpus=0-2 (those of the node that may be used)
 *     down, slow, nowhere (the first NIC), gpu_nowhere (the second GPU), cut
 *     ranks=16x1 (ranks and CPUs of each), first=1 (only the first of them are there)
 *     bound=0;1 (ranks with these masks; the user typed --nuioa)
 *     masks=0;1, unbound, step=0-3 (the CPUs of the step), asked, not_asked
 *     falling, equal, weights=2,1, pairs=0-1:9 (bytes), all_pairs, gpus=0;?
 *     a member of struct nuioa_request: overlaps, cpus_typed=4
 *     an option: --cores=pack */

/* Makes a case of these words, a format of printf, or adds words to one. A word that is wrong ends
 * the test. */
struct plan_case *plan_case_of(const char *words, ...) __attribute__((format(printf, 1, 2)));
void plan_case_set(struct plan_case *test, const char *words, ...)
    __attribute__((format(printf, 2, 3)));

#endif
