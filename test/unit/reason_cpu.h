/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_REASON_CPU_H
#define TEST_UNIT_REASON_CPU_H

#include "plan_case.h"

/* Situations for reason_case.c with --nuioa-policy=cpu. Each describes one in an empty case. */
void cpu_unknown(struct plan_case *s);
void cpu_alone(struct plan_case *s);
void cpu_share(struct plan_case *s);
void cpu_keep(struct plan_case *s);
void cpu_quiet(struct plan_case *s);
void cpu_no_spare(struct plan_case *s);
void cpu_overlap(struct plan_case *s);
void cpu_costs(struct plan_case *s);
void cpu_moved(struct plan_case *s);

/* Frees what they have allocated beside the case. */
void reason_cpu_free(void);

#endif
