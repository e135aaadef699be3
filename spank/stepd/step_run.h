/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_STEP_RUN_H
#define SPANK_STEPD_STEP_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spank/common/flags.h"
#include "spank/stepd/flows_answer.h"
#include "spank/stepd/step_facts.h"
#include "spank/stepd/task_memory.h"
#include "util/error.h"

struct launch;
struct flows;
struct nuioa_publisher;
struct report_stepd;

/* The time that the hooks of slurmstepd take. */
struct hook_times {
    uint64_t cpu_us; /* CPU time in init_post_opt and user_init */
    /* Time in init_post_opt, in all calls of task_post_fork, and in the last one. */
    uint32_t init_us, fork_us, last_fork_us;
};

/* The tasks that Slurm has forked. */
struct forked_tasks {
    pid_t *pids;    /* [task_count]; 0: not forked yet */
    uint32_t count; /* number of tasks that are forked */
};

/* The state of the step, which changes from one hook to the next. Each task that slurmstepd forks
 * has a copy, and only reads it. The comments say which file writes each part; the same file frees
 * it. [task_count] is facts->step.task_count, by local rank. */
struct step_run {
    /* dispatch.c. `flags` is what the user typed; stepd.c counts times.cpu_us. */
    const struct flags *flags;
    const struct step_facts *facts;
    struct hook_times times;

    bool active; /* the plugin places the tasks of this step: stepd.c; launch.c clears it */

    /* stepd.c, in task_post_fork; the array is there after init_post_opt. */
    struct forked_tasks forked;

    /* Any file of slurmstepd adds to it; faults.c prints it. */
    struct nuioa_warnings faults; /* what went wrong on this node and is not printed yet */

    /* stepd.c opens and unmaps it; rank_settings.c, gpu_table.c and the tasks write into it. */
    struct task_memory *task_memory; /* shared with the tasks; NULL: none */

    struct profile_part profile; /* flows.c */
    struct task_gpu_set *gpus;   /* task_gpus.c: [task_count]; NULL: nobody asks for GPUs */

    /* Each is of the file with its name; NULL: none. */
    struct flows *flows;
    struct nuioa_publisher *publisher;
    struct report_stepd *report;
    struct launch *launch;
};

#endif
