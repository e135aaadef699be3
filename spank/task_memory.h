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
    bool ready;                    /* slurmstepd has written the members below */
    struct nuioa_mempolicy memory; /* the memory policy that the task sets */
    uint32_t init_us;              /* microseconds spent in the task's hook; the task writes it */
    uint16_t foreign, threads;     /* offsets in bytes of these blocks in `text` */
    /* Three blocks of "NAME=VALUE" strings, each ended by an empty string: nuioa's own variables;
     * foreign ones, which do not replace the user's; and those that place threads, which do not
     * either. They follow each other without a gap, because pages that are not written need no
     * memory. */
    char text[33 * 1024];
};

struct task_memory {
    uint32_t closed;                 /* for task_memory.c only; 0 at first, which is open */
    bool job_known;                  /* the leaders of all nodes are known */
    char leaders[4096];              /* value of NUIOA_LEADERS; "": none, or it would be too long */
    struct task_memory_part tasks[]; /* by local rank */
};

/* In slurmstepd, before it forks: returns the memory for `count` tasks, all zeros and open, which
 * task_memory_free() frees; or NULL if the kernel refuses it. Until it is written it uses address
 * space only. */
struct task_memory *task_memory_new(uint32_t count);

/* Unmaps the memory in this process. `count` is the one given to task_memory_new(). NULL is
 * allowed. */
void task_memory_free(struct task_memory *task_memory, uint32_t count);

/* In slurmstepd, before any task runs: closes the memory. Tasks that call task_memory_wait() wait
 * from now on. */
void task_memory_close(struct task_memory *task_memory);

/* In slurmstepd, when everything is written: opens the memory, and the tasks that wait go on. Any
 * thread may call it. */
void task_memory_open(struct task_memory *task_memory);

/* In a task: waits until the memory is open, for at most `ms` milliseconds. Returns true if it is
 * open, false if it is still closed then. If slurmstepd dies meanwhile, the function kills the
 * calling process by SIGKILL, as Slurm would have ended it. */
bool task_memory_wait(struct task_memory *task_memory, unsigned ms);

#endif
