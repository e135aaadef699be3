/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_MEMORY_H
#define SPANK_TASK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/bind.h"

/* Memory shared by slurmstepd and the tasks that it forks. It brings them the plan, which is made
 * only when all tasks exist. slurmstepd writes each task's part before it lets the task run, and
 * the rest before it opens the memory, for which the tasks wait. */

struct task_memory_part {
    bool ready; /* the members below are written */
    struct nuioa_mempolicy memory;
    uint32_t init_us;          /* written by the task: time spent in its hook */
    uint16_t foreign, threads; /* offsets of these blocks in `text` */
    /* Three blocks of "NAME=value" strings, each ended by an empty string: nuioa's own variables;
     * foreign ones, which do not replace the user's; and those that place threads, which do not
     * either. They follow each other without a gap, because pages that are not written need no
     * memory. */
    char text[33 * 1024];
};

struct task_memory {
    uint32_t closed;                 /* private to task_memory.c; 0 at first */
    bool job_known;                  /* the leaders of all nodes are known */
    char leaders[4096];              /* value of NUIOA_LEADERS; "": none, or it would be too long */
    struct task_memory_part tasks[]; /* by local rank */
};

/* Maps the memory for `count` tasks; NULL if the kernel refuses. Until it is written it uses
 * address space only. */
struct task_memory *task_memory_new(uint32_t count);

/* Unmaps it; `count` as for task_memory_new(). NULL is fine. */
void task_memory_free(struct task_memory *task_memory, uint32_t count);

/* In slurmstepd, before any task runs: tasks that call task_memory_wait() wait from now on. */
void task_memory_close(struct task_memory *task_memory);

/* In slurmstepd: everything is written, and the tasks that wait go on. */
void task_memory_open(struct task_memory *task_memory);

/* In a task: waits until the memory is open, for at most `ms` milliseconds. False: it is still
 * closed then. If slurmstepd dies meanwhile, the function kills the task, as Slurm would have ended
 * it. */
bool task_memory_wait(struct task_memory *task_memory, unsigned ms);

#endif
