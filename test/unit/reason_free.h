/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_REASON_FREE_H
#define TEST_UNIT_REASON_FREE_H

#include "plan_case.h"

/* Situations for reason_case.c in which cores of the step are free, or none are. Each describes one
 * in an empty case. */
void free_not_asked(struct plan_case *s);
void free_bound(struct plan_case *s);
void free_gpus(struct plan_case *s);
void free_unconfined(struct plan_case *s);
void free_overlap(struct plan_case *s);
void free_keep(struct plan_case *s);
void block_no_free(struct plan_case *s);
void block_spread_equal(struct plan_case *s);
void alone_no_free(struct plan_case *s);
void better_no_free(struct plan_case *s);

/* Frees what they have allocated beside the case. */
void reason_free_end(void);

#endif
