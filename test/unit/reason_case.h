/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_REASON_CASE_H
#define TEST_UNIT_REASON_CASE_H

#include "plan_words.h"

/* The situations in which ranks move or stay: one for each sentence of ranks/reason.h.
 * The words are those of plan_words.h. */

struct reason_case {
    const char *name, *words;
    const char *when; /* the situation in words, for doc/report.md */
};

/* By reason. The members are NULL where no plan leads to the reason. */
extern const struct reason_case reason_cases[NUIOA_REASON_COUNT];

#endif
