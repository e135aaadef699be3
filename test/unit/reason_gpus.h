/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_REASON_GPUS_H
#define TEST_UNIT_REASON_GPUS_H

#include "plan_case.h"

/* Situations for reason_case.c in which ranks have GPUs of their own, or cannot be told theirs.
 * Each describes one in an empty case. */
void follow(struct plan_case *s);
void gpus_keep(struct plan_case *s);
void gpus_unknown(struct plan_case *s);
void gpus_shared(struct plan_case *s);
void gpus_no_numa(struct plan_case *s);
void follow_free(struct plan_case *s);
void follow_nearest(struct plan_case *s);
void follow_far(struct plan_case *s);
void follow_no_free(struct plan_case *s);
void follow_share(struct plan_case *s);
void follow_share_far(struct plan_case *s);
void follow_share_takes(struct plan_case *s);
void follow_alone(struct plan_case *s);
void follow_costs(struct plan_case *s);

#endif
