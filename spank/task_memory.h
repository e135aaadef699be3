/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_MEMORY_H
#define SPANK_TASK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/bind.h"

/* Memory shared by slurmstepd and the tasks that it forks: the tasks exist before the plan does,
 * and this is how its result reaches them. Written by the parent: the tasks' own parts before it
 * lets them go, the rest until they find it open. */

struct task_memory_part {
    bool ready; /* nothing here counts before */
    struct nuioa_mempolicy memory;
    uint32_t init_us;          /* written by the task: time it spent in its hook */
    uint16_t foreign, threads; /* where in `text` these blocks begin */
    /* Blocks of "NAME=value" strings, an empty one last: ours, then foreign, on which the user has
     * the last word, then, likewise, those that place threads. One after the other, for what is not
     * touched costs nothing, here and in the task. */
    char text[33 * 1024];
};

struct task_memory {
    uint32_t closed; /* for spank/task_memory.c; a new one is open */
    bool job_known;  /* the leaders of all nodes are */
    char leaders
        [4096]; /* they, as NUIOA_LEADERS has them; "": unknown, or longer than a variable may be */
    struct task_memory_part tasks[];
};

/* For `count` tasks; NULL if the kernel refuses. Costs address space only, until it is written. */
struct task_memory *task_memory_new(uint32_t count);
void task_memory_free(struct task_memory *task_memory, uint32_t count);

/* In the parent: what is written is not complete yet, to be said before any task is let go; and it
 * is. */
void task_memory_close(struct task_memory *task_memory);
void task_memory_open(struct task_memory *task_memory);

/* In a task: waits until the task memory is open, for at most `ms`. False: it is not open in time.
 * A task whose slurmstepd dies meanwhile does not come back: it ends, as it would had it not been
 * let go yet. */
bool task_memory_wait(struct task_memory *task_memory, unsigned ms);

#endif
