/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_LAUNCH_H
#define TEST_HOOKS_LAUNCH_H

#include "fault.h"
#include "variant.h"

/* Launches a step without Slurm: a process for each program of Slurm's calls the plugin's hooks in
 * Slurm's order, and the tasks are children of those that stand for slurmstepd. */

enum {
    PROGRAM_SLURMD,
    PROGRAM_ALLOCATOR,
    PROGRAM_SRUN,
    PROGRAM_STEPD, /* + node */
    PROGRAM_TASKS = PROGRAM_STEPD + NODES_MAX,
    PROGRAMS
};

extern const char *const program_names[PROGRAMS];

struct program {
    struct fault_counts counts;
    bool begun, ended; /* ended: it came to its end by itself */
    char left[512];    /* what its hooks have not left as it was; "": nothing */
    unsigned lines;    /* messages to the user */
    char said[8192];   /* all messages and reports */
};

struct task {
    bool ended;
    char before[64], cpus[64]; /* CPUs that Slurm bound it to, and those that it has */
    char environment[8192];    /* "NAME=value" lines */
};

/* The results of one launch. They are in memory that all its processes share. */
struct launch {
    struct program programs[PROGRAMS];
    struct task tasks[NODES_MAX][TASKS_MAX];
    char environment[32768]; /* from salloc to srun, and from srun to the nodes */
    char files[512];         /* files or processes that were left behind; "": none */
};

/* Makes the directory and the files that launches use; false with a text on stderr. */
bool launch_prepare(void);
void launch_remove(void);

/* Returns memory for launches. */
struct launch *launch_new(void);

/* Launches. The plan counts for one program; NULL: no fault. */
void launch_run(struct launch *launch, const struct variant *variant, int program,
                const struct fault_plan *plan);

/* Returns why the launch is lost; NULL: it is not. The text is valid until the next call. */
const char *launch_lost(const struct launch *launch, const struct variant *variant);

/* Returns what the launch has left behind; NULL: nothing. */
const char *launch_left(const struct launch *launch);

/* The number of CPUs that the launches use. */
unsigned launch_cpus(void);

#endif
