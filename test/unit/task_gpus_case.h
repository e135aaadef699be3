/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_UNIT_TASK_GPUS_CASE_H
#define TEST_UNIT_TASK_GPUS_CASE_H

#include <stdbool.h>
#include <sys/types.h>

#include "spank/stepd/step_run.h"

/* A step of three tasks on a node with three GPUs, for the tests of spank/stepd/task_gpus.h. */

#define GPUS 3
#define TASKS 3

/* The device files of the GPUs. Their major number is 1. */
struct task_gpus_file {
    const char *file;
    int minor;
};
extern const struct task_gpus_file task_gpus_files[GPUS];

extern bool file_unknown; /* the file of the last GPU is unknown */
extern char said[256];    /* the last text of slurm_debug() */

extern struct step_facts facts;
extern struct step_run context; /* of these facts */
extern pid_t pids[TASKS];       /* the processes of the tasks; 0: none */

/* Sets `context` to the step, about whose GPUs nothing is known yet. */
void begin(void);

/* Describes what is known of all tasks: "0,2 - ?"; "?" is unknown, "?0,2" has some of these, "&0,2"
 * sees these, and others do, too. The text is static. It frees
 * what is known. */
const char *describe(void);

/* Kills the processes of the tasks and waits for them. */
void end_all(void);

#endif
