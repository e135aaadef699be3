/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_STEPD_CONTEXT_H
#define SPANK_STEPD_STEPD_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mapping/mapping.h"
#include "option/option.h"
#include "profile/hints.h"
#include "spank/common/flags.h"
#include "spank/common/step.h"
#include "spank/stepd/task_memory.h"
#include "topology/node.h"

struct completion;
struct nuioa_publisher;
struct other_steps;
struct rendezvous_stepd;

/* The state that slurmstepd keeps from one hook to the next. Each task that it forks has a copy.
 * The arrays are malloc'd; stepd_exit() frees them. [task_count] is step.task_count, by local
 * rank. */
struct stepd_context {
    const struct flags *flags;    /* what the user typed; not owned */
    struct nuioa_options options; /* all option sources together */
    bool active;                  /* the plugin places the tasks of this step */
    struct nuioa_warnings faults; /* what went wrong on this node and is not printed yet */
    struct step step;
    struct nuioa_node node;
    struct nuioa_hints hints;
    double *weights;          /* [task_count], from a profile; NULL: `hints` count */
    struct nuioa_pair *pairs; /* [pair_count], from a profile: bytes that two ranks exchange */
    uint32_t pair_count;
    struct task_memory *task_memory;     /* shared with the tasks; NULL: none */
    struct task_gpu_set *gpus;           /* [task_count]; NULL: the step has no GPUs */
    pid_t *pids;                         /* [task_count]; 0: not forked yet */
    uint32_t forked;                     /* number of tasks that are forked */
    uint64_t cpu_us;                     /* CPU time that the plugin has used before the plan */
    uint64_t cpu_until_us;               /* when planning must end: nuioa_cpu_us() of its thread */
    struct nuioa_publisher *publisher;   /* NULL: nothing is published through PMIx */
    struct other_steps *other_steps;     /* owned by other_steps.c; NULL: none */
    pid_t pid;                           /* process id of slurmstepd */
    struct completion *completion;       /* owned by stepd.c; NULL: none */
    struct rendezvous_stepd *rendezvous; /* owned by rendezvous_stepd.c; NULL: none */
    /* Microseconds spent in init_post_opt, in all calls of task_post_fork, and in the last one. */
    uint32_t init_us, fork_us, last_fork_us;
};

#endif
