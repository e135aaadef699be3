/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_PLAN_CASE_H
#define TEST_PLAN_CASE_H

#include "plan/plan.h"

/* A request on a machine built by hand (machine.h), with Slurm's masks, and the plan made of it.
 * Any failure ends the test. */

#define PLAN_CASE_TASKS_MAX 64

struct plan_case {
    struct nuioa_node node;
    struct nuioa_options options;
    struct nuioa_task tasks[PLAN_CASE_TASKS_MAX];
    hwloc_bitmap_t masks[PLAN_CASE_TASKS_MAX];
    struct nuioa_request request;
    struct nuioa_plan plan;
    struct nuioa_error err;
};

/* An empty one; its node is to be built before anything else. To be freed. */
struct plan_case *plan_case_new(void);
void plan_case_free(struct plan_case *test);

/* `tasks` ranks in block distribution over whole cores, mode on. */
void plan_case_on(struct plan_case *test, unsigned tasks, unsigned cpus_per_task);

/* As typed for srun: "policy", "cpu". */
void plan_case_option(struct plan_case *test, const char *name, const char *value);

/* Hints: weights[task_count]. */
void plan_case_weigh(struct plan_case *test, const double *weights);

/* Makes the plan, anew if there is one, and checks what holds for every plan: J never above
 * Slurm's, the accounts add up to it. */
void plan_case_make(struct plan_case *test);

/* The first NUMA node of each rank in local order: "5,5,3,3". Static. Likewise their NICs. */
const char *plan_case_numas(const struct plan_case *test);
const char *plan_case_nics(const struct plan_case *test);

#endif
