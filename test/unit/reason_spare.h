/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_REASON_SPARE_H
#define TEST_UNIT_REASON_SPARE_H

#include "plan_case.h"

/* Situations for reason_case.c in which cores of the step are free, or none are. Each describes one
 * in an empty case. */
void spare_not_asked(struct plan_case *s);
void spare_bound(struct plan_case *s);
void spare_gpus(struct plan_case *s);
void spare_unconfined(struct plan_case *s);
void spare_overlap(struct plan_case *s);
void spare_keep(struct plan_case *s);
void block_no_spare(struct plan_case *s);
void block_spread_equal(struct plan_case *s);
void alone_no_spare(struct plan_case *s);
void better_no_spare(struct plan_case *s);

/* Frees what they have allocated beside the case. */
void reason_spare_free(void);

#endif
