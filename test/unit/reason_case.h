/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_REASON_CASE_H
#define TEST_UNIT_REASON_CASE_H

#include "plan_case.h"

/* The situations in which ranks move or stay: one for each sentence of ranks/reason.h. */

struct reason_case {
    const char *name;                 /* of the function `set` */
    void (*set)(struct plan_case *s); /* describes the situation; reason_case_free() frees it */
    const char *when;                 /* the situation in words, for doc/report.md */
};

/* By reason. The members are NULL where no plan leads to the reason. */
extern const struct reason_case reason_cases[NUIOA_REASON_COUNT];

/* Frees the case and what its `set` has allocated. Only one case exists at a time. */
void reason_case_free(struct plan_case *s);

#endif
