/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_STEP_H
#define NUIOA_TOOL_PROBE_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/* The step of two tasks on two nodes in which this process runs. */
struct probe_step {
    uint32_t job, step;
    char here[64], there[64]; /* names of this node and of the other one, as Slurm has them */
    bool first;               /* this node is the first one of the step */
};

/* Reads the step from the variables that Slurm gives its tasks. Returns 0; or -EINVAL with *err,
 * which says how to start one, if there is no step, or if it has not one task on each of two
 * nodes. */
int probe_step_read(struct probe_step *step, struct nuioa_error *err);

#endif
