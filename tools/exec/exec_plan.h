/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_EXEC_PLAN_H
#define NUIOA_TOOL_EXEC_PLAN_H

#include "plan/plan.h"
#include "tools/exec/exec_input.h"
#include "tools/plan_input.h"

/* The plan that each process on a node makes for itself. All processes make the same one, because
 * they have the same input. Only then each looks at the ports of its own NICs.
 *
 * A process that the plugin has placed keeps its CPUs, its memory policy and what it was told. Only
 * its GPUs may be known better now: a script between srun and the program may have divided them by
 * a variable such as CUDA_VISIBLE_DEVICES, or their rule was requested for this command alone. */

struct exec_plan {
    const struct exec_input *input;
    struct plan_input ranks; /* those of the node, by local rank */
    struct nuioa_request request;
    struct nuioa_plan plan;
    struct nuioa_node node; /* the input's, with the ports as they are now; `nics` is the plan's */
    struct nuioa_warnings warnings; /* those of the input, and of the plan */
    bool stays; /* the CPUs of this process are not touched; the plan knows nothing of the others */
    bool retold; /* placed, and to be told its GPUs and their NICs, in place of what it was told */
};

/* Makes the plan. *exec must be all zeros, and keeps a pointer to *input. Returns 0, or an exit
 * status after a message on stderr. The caller calls exec_plan_free in any case. */
int exec_plan_make(struct exec_plan *exec, const struct exec_input *input);

/* Takes the plan back that the kernel has refused: this process keeps its CPUs, as with the mode
 * export. Returns 0, or an exit status after a message on stderr. */
int exec_plan_undo(struct exec_plan *exec);

/* Returns true if this process has, or may have, GPUs, and the plan does not know which. */
bool exec_plan_lacks_gpus(const struct exec_plan *exec);

/* Returns true if variables of other programs may choose NICs: not if the plan lacks GPUs, or if
 * nobody but the launcher has told which GPU is whose. */
bool exec_plan_filters(const struct exec_plan *exec);

/* Frees what *exec holds, but not the input. */
void exec_plan_free(struct exec_plan *exec);

#endif
