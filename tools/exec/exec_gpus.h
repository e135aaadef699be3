/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_EXEC_GPUS_H
#define NUIOA_TOOL_EXEC_GPUS_H

#include "option/option.h"
#include "ranks/request.h"
#include "tools/exec/launcher.h"
#include "topology/gpu_count.h"
#include "util/arena.h"

/* The GPUs of the calling process, as far as it can know them, and those of the others on its node.
 * The rule is gpus=local-rank, if it was requested, or if the launcher's programs take the GPU of
 * their local rank (launcher.h). A process alone on its node has all that it sees. */
struct exec_gpus {
    enum nuioa_gpus given;
    uint32_t *seen; /* [seen_count]: all GPUs that this process can have, as indexes into the
                       node's; NULL: any */
    uint32_t seen_count;
    bool sees;                /* it sees all of `seen`, and no others */
    bool has;                 /* it has all of them; else other processes may see them, too */
    enum nuioa_gpu_mode rule; /* NUIOA_GPU_AUTO: none */
    bool implied;             /* nobody has requested the rule */
    uint32_t *order;      /* [order_count]: what it sees, in the order of its program's numbers */
    uint32_t order_count; /* 0 without a rule, if the order is unknown, or if `has`; else the tasks
                             have their GPUs by the rule only */
    struct nuioa_arena arena; /* of `seen` and `order` */
};

/* Finds all that for a process at `place`, whose options these are, in its environment. Without
 * memory the GPUs are not known. The caller frees gpus->arena. */
void exec_gpus_find(struct exec_gpus *gpus, const struct nuioa_node *node,
                    const struct nuioa_options *options, const struct launcher_place *place);

/* Says of tasks[place->count] which GPUs they have, or see. By the rule each has one of those that
 * all see; without it those of the others are not known, and those that this process sees without
 * having them, the others see, too. With `equal` all processes must say the same, so that none says
 * what it alone knows. The tasks keep pointers to *gpus. */
void exec_gpus_fill(const struct exec_gpus *gpus, const struct nuioa_node *node,
                    const struct launcher_place *place, bool equal, struct nuioa_task *tasks);

#endif
