/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_EXEC_PLAN_H
#define NUIOA_TOOL_EXEC_PLAN_H

#include "plan/plan.h"
#include "tools/exec/cpus.h"
#include "tools/exec/gpus.h"
#include "tools/exec/launcher.h"
#include "tools/plan_input.h"

/* The plan that each process on a node makes for itself. All processes make the same one, because
 * they read the same facts and none that changes while they start: no load, no state of a port. */

struct exec_plan {
    /* The caller sets these. */
    struct nuioa_options options; /* asked, and finished */
    struct launcher_place place;
    struct exec_cpus cpus;  /* not used for another machine */
    uint32_t cpus_per_task; /* as typed; 0: not typed */
    bool placed;            /* the plugin has placed this process already */

    /* exec_plan_make sets these. */
    struct nuioa_node node;
    struct plan_input input;
    struct nuioa_warnings warnings;
    struct nuioa_plan plan;
    bool retold; /* placed, and to be told other NICs (placed.h); exec_placed_settle sets it */
    bool stays; /* the CPUs of this process are not touched; the plan knows nothing of the others */
    struct exec_gpus gpus;
};

/* Makes the plan. `stay` is a reason, known to the caller only, why this process keeps its CPUs, or
 * NUIOA_REASON_NONE. Returns 0, or an exit status after a message on stderr. It may be called
 * again. The caller calls exec_plan_free in any case. */
int exec_plan_make(struct exec_plan *exec, enum nuioa_reason stay);

/* Returns true if this process has, or may have, GPUs, and the plan does not know which. */
bool exec_plan_lacks_gpus(const struct exec_plan *exec);

/* Returns true if variables of other programs may choose NICs: not if the plan lacks GPUs, or if
 * nobody but the launcher has told which GPU is whose. */
bool exec_plan_filters(const struct exec_plan *exec);

/* Frees all that *exec holds. */
void exec_plan_free(struct exec_plan *exec);

#endif
