/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PLAN_INPUT_H
#define NUIOA_TOOL_PLAN_INPUT_H

#include "plan/plan.h"

/* What `nuioa plan` asks: which ranks, where Slurm would put them, what they communicate. */

#define PLAN_TASKS_MAX 65536

struct plan_input {
    const char *command;
    uint32_t task_count;
    uint32_t cpus_per_task;    /* 0: not said */
    uint32_t *ranks;           /* [task_count] */
    hwloc_bitmap_t allowed;    /* NULL: not said */
    hwloc_bitmap_t interrupts; /* CPUs that serve those of NICs; NULL: not said, later as found */
    const char *binding;       /* a file, or NULL */
    uint32_t line_count;       /* of that file */
    hwloc_bitmap_t *cpus;      /* [line_count], later [task_count] */
    struct nuioa_task *tasks;
    struct nuioa_pair *pairs;
    uint32_t pair_count;
};

/* --interrupts. Likewise; before plan_input_request. */
int plan_input_interrupts(struct plan_input *input, const char *list);

/* Reads the values of the options of these names; NULL for one that was not given. 0 or an exit
 * status, said on stderr. To be freed in any case. */
int plan_input_arguments(struct plan_input *input, const char *command, const char *tasks,
                         const char *cpus_per_task, const char *ranks, const char *allowed,
                         const char *binding);

/* Fills *request, which points into *input, *node and *options. Likewise. */
int plan_input_request(struct plan_input *input, const struct nuioa_node *node,
                       const struct nuioa_options *options, struct nuioa_request *request,
                       struct nuioa_warnings *warnings);

void plan_input_free(struct plan_input *input);

/* "0,2,4-7", strictly: into `cpus`, which exists. 0 or -EINVAL. */
int plan_cpu_list(const char *text, hwloc_bitmap_t cpus);

#endif
