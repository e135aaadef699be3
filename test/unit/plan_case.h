/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_PLAN_CASE_H
#define TEST_PLAN_CASE_H

#include "machine.h"
#include "plan/plan.h"
#include "ranks/request.h"

/* A request for a machine built by hand (machine.h), with the masks that Slurm would give, and the
 * plan that is made for it. Any failure ends the test. */

#define PLAN_CASE_TASKS_MAX 128
#define PLAN_CASE_GPUS_MAX 16

struct plan_case {
    struct nuioa_node node;
    struct nuioa_options options;
    struct nuioa_task tasks[PLAN_CASE_TASKS_MAX];
    uint32_t gpus[PLAN_CASE_TASKS_MAX][PLAN_CASE_GPUS_MAX];
    hwloc_bitmap_t masks[PLAN_CASE_TASKS_MAX], step;
    struct nuioa_request request;
    struct nuioa_plan plan;
    struct nuioa_error err;
    struct plan_case *next;
};

/* Returns an empty case. Build its node before anything else. It is freed when the test has ended,
 * or by plan_case_free: tests of many rounds call that. */
struct plan_case *plan_case_new(void);
void plan_case_free(struct plan_case *test);

/* Makes a request for `tasks` ranks, in block distribution over whole cores, with mode on. */
void plan_case_on(struct plan_case *test, unsigned tasks, unsigned cpus_per_task);

/* Gives the ranks other masks: "0;1;8-9". */
void plan_case_bind(struct plan_case *test, const char *masks);

/* Sets the CPUs of the step: "0-3,8". */
void plan_case_step(struct plan_case *test, const char *cpus);

/* All ranks have all CPUs of the node, as Slurm leaves them in a step that is wider than them. */
void plan_case_unbind(struct plan_case *test);

/* Sets an option as a user types it for srun: "policy", "latency". */
void plan_case_option(struct plan_case *test, const char *name, const char *value);

/* Gives every task a weight, as hints do: weights[task_count], or weight(local rank). */
void plan_case_weigh(struct plan_case *test, const double *weights);
void plan_case_weigh_by(struct plan_case *test, double (*weight)(unsigned));

/* Weights for plan_case_weigh_by: 64 for local rank 0 and 1 less for each further one; and 5. */
double plan_case_descending(unsigned local);
double plan_case_equal(unsigned local);

/* Gives every rank its GPUs, as `nuioa plan --gpus` does: "0;1;2,3". A rank with '?' has GPUs that
 * are unknown; with "?2,3" it sees these together with others. */
void plan_case_gpus(struct plan_case *test, const char *gpus);

/* Makes the plan and replaces an earlier one. It checks what holds for every plan: J is not higher
 * than with the masks of Slurm, and the costs of the ranks add up to J. */
void plan_case_make(struct plan_case *test);

/* Return the first NUMA node, or the NIC, of each rank by local rank: "5,5,3,3". The text is static
 * and valid until the next call. */
const char *plan_case_numas(const struct plan_case *test);
const char *plan_case_nics(const struct plan_case *test);

/* Returns the CPUs of each rank: "6-7,10;0-1". The text is static as above. */
const char *plan_case_cpus(const struct plan_case *test);

/* Returns all NICs of each rank: "0,2;1,3". The text is static as above. */
const char *plan_case_all_nics(const struct plan_case *test);

/* Returns the value of a variable in a block of settings "NAME=VALUE\0...\0", or NULL. */
const char *plan_case_variable(const char *block, const char *name);

#endif
