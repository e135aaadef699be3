/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_REASON_CASE_H
#define TEST_UNIT_REASON_CASE_H

#include "plan_case.h"

/* The situations in which ranks move or stay: one for each sentence of ranks/reason.h.
 *
 * The words describe the machine, the request and the options, in this order:
 *
 *     hagrid=5 (machine.h) | quad | plain=2x4 (machine_plain) | row (three NUMA nodes of two cores)
 *     nic=1 gpu=0 (one more, on this NUMA node), cpus=0-2 (those of the node that may be used)
 *     down, slow, nowhere (the first NIC), gpu_nowhere (the second GPU), cut
 *     ranks=16x1 (ranks and CPUs of each), first=1 (only the first of them are there)
 *     masks=0;1, unbound, step=0-3 (the CPUs of the step), asked, not_asked
 *     falling, equal, weights=2,1, pairs=0-1:9 (bytes), all_pairs, gpus=0;?
 *     a member of struct nuioa_request: overlaps, cpus_typed=4
 *     an option: --cores=pack */

struct reason_case {
    const char *name, *words;
    const char *when; /* the situation in words, for doc/report.md */
};

/* By reason. The members are NULL where no plan leads to the reason. */
extern const struct reason_case reason_cases[NUIOA_REASON_COUNT];

/* Describes the situation in an empty case. A word that is wrong ends the test. */
void reason_case_set(const struct reason_case *situation, struct plan_case *s);

#endif
