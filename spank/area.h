#ifndef SPANK_AREA_H
#define SPANK_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include "bind.h"

/* Memory shared by slurmstepd and the tasks that it forks: the tasks exist before the plan does,
 * and this is how its result reaches them. Written by the parent before it lets any task go,
 * read by the tasks. */

struct area_task {
    bool ready;                    /* nothing here counts before */
    bool job_known;                /* the leaders of all nodes are */
    struct nuioa_mempolicy memory;
    uint32_t init_us;              /* written by the task: time it spent in its hook */
    uint16_t foreign, threads;     /* where in `text` these blocks begin */
    /* Blocks of "NAME=value" strings, an empty one last: ours, then foreign, on which the user has the last
     * word, then, likewise, those that place threads. One after the other, for what is not touched costs
     * nothing, here and in the task. */
    char text[33 * 1024];
};

/* For tasks[count]; NULL if the kernel refuses. Costs address space only, until it is written. */
struct area_task *area_new(uint32_t count);
void area_free(struct area_task *tasks, uint32_t count);

#endif
