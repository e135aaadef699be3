/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_PROGRAMS_H
#define TEST_HOOKS_PROGRAMS_H

#include "launch.h"

/* What each of Slurm's programs does with the plugin in a launch; each function is called in a
 * process of its own. */

struct role {
    struct launch *launch;
    const struct variant *variant;
    int program; /* PROGRAM_* */
    struct fault_plan plan;
    struct fault_plan task_plan; /* for the tasks of a slurmstepd */
    int task_stderr;
    int ready, end; /* pipes: srun writes when it is ready, and ends when the other is closed */
};

void program_slurmd(const struct role *role);
void program_allocator(const struct role *role);
void program_srun(const struct role *role);
void program_stepd(const struct role *role);

#endif
