/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_STAND_IN_H
#define TEST_HOOKS_STAND_IN_H

#include <slurm/spank.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "variant.h"

/* What stands in for Slurm's programs, PMIx and MUNGE: the functions of SPANK, libslurm, libpmix
 * and libmunge that the plugin calls (slurm_stand_in.c, pmix_stand_in.c, munge_stand_in.c). */

#define JOB 1000 /* a component of a heterogeneous job has this and its number */
#define STEP 3
#define VARIABLES_MAX 512

/* One process of Slurm's. */
struct stand_in {
    spank_context_t context;
    const struct variant *variant;
    unsigned node;
    int task;  /* its local rank; -1: none */
    pid_t pid; /* of that task */
    uid_t uid; /* of the user */
    char *environment[VARIABLES_MAX];
    spank_opt_cb_f option_callback;
    bool pmix_runs;
};

/* There is one in each process. */
extern struct stand_in stand_in;

/* The directory with everything that the launches read and write. It holds a tree "sys" and a
 * directory "proc", which the plugin sees in place of the machine's. */
extern char stand_in_directory[];

/* The name of the node that this process is on. */
const char *stand_in_host(void);

/* The path that a file of the plugin's is looked for at; `other` has `size` bytes for it. */
const char *stand_in_path(const char *path, char *other, size_t size);

/* Sets and gets variables of the step's environment. */
void stand_in_set(const char *name, const char *value);
void stand_in_put(const char *setting);

/* Handles a flag that the user typed, such as "nuioa-policy=latency". */
void stand_in_type(const char *flag);

#endif
