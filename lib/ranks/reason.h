/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_RANKS_REASON_H
#define NUIOA_RANKS_REASON_H

/* Why the ranks of a plan moved or did not move: one sentence for each situation, in reason_list.h.
 * doc/report.md lists them, and test/unit/reason_test.c makes a plan for each. */
enum nuioa_reason {
#define NUIOA_REASON(name, text) name,
#include "ranks/reason_list.h"
    NUIOA_REASON_COUNT
};

/* Each of these names an option for a user who knows more of the program than a plan can. */
enum nuioa_advice {
    NUIOA_ADVICE_MEMORY,         /* ranks span NUMA nodes; one core each, if they have one thread */
    NUIOA_ADVICE_THREADS,        /* -c was typed; threads=on would bind threads */
    NUIOA_ADVICE_THREADS_NEED_C, /* threads=on, and nobody typed -c */
    NUIOA_ADVICE_GPUS,           /* as many ranks as GPUs see all of them; gpus=local-rank */
    NUIOA_ADVICE_GPUS_ORDER,     /* gpus=local-rank, and the numbers of GPUs are unknown */
    NUIOA_ADVICE_NO_OWN_NIC,     /* a rank alone spans the NUMA nodes of all NICs; rails=N */
    NUIOA_ADVICE_GPUS_FAR,       /* ranks are far from their GPUs; a job with cores beside these */
    NUIOA_ADVICE_CONNECTED,      /* subnets of NICs cannot be told apart; rails=connected */
    NUIOA_ADVICE_ROLES,          /* some NIC is doubted; nic_role */
    NUIOA_ADVICE_COUNT
};

/* Returns the sentence for it, a constant text with less than 256 bytes. */
const char *nuioa_advice_text(enum nuioa_advice advice);

/* Returns the sentence, a constant text: what was done, why, and, where nothing could be done, what
 * to type. "" for NUIOA_REASON_NONE. */
const char *nuioa_reason_text(enum nuioa_reason reason);

#endif
