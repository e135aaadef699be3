/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OPTION_OPTION_ENVIRONMENT_H
#define NUIOA_OPTION_OPTION_ENVIRONMENT_H

#include "option/option.h"

/* Reads the options of the environment, for srun, its nodes and nuioa exec alike. */

/* These variables are no options. srun sets the first ones for its nodes, and the plugin the last
 * two for the ranks. */

/* The hints of a file, as a list that srun makes of it. It is empty if the file cannot be used,
 * which srun has told the user, or if the list is too long. */
#define NUIOA_VARIABLE_HINTS_LIST "SLURM_NUIOA_HINTS_LIST"

/* The absolute name of that file, if it says more than the list: which ranks communicate with each
 * other. On each node a child of slurmstepd that has become the user reads it
 * (spank/stepd/flows.h); root never opens a user's file. */
#define NUIOA_VARIABLE_HINTS_PATH "SLURM_NUIOA_HINTS_PATH"

/* The values of all --nuioa, where it was typed more than once: Slurm hands the nodes only the last
 * one. */
#define NUIOA_VARIABLE_SWITCH "SLURM_NUIOA_SWITCH"

/* The user gave --overlap: Slurm does not tell the nodes. */
#define NUIOA_VARIABLE_OVERLAP "SLURM_NUIOA_OVERLAP"

/* A list: "step" if srun runs in the rank of a step of one, which waits for it; "cpu" and "mem" if
 * srun has inherited the binding of CPUs or memory from another step. */
#define NUIOA_VARIABLE_OUTER "SLURM_NUIOA_OUTER"

/* Where nodes send their part of the report: spank/report/wire.h. */
#define NUIOA_VARIABLE_COLLECTOR "SLURM_NUIOA_COLLECTOR"

/* srun of version 1.0 sets this for its nodes, and it holds a key. */
#define NUIOA_VARIABLE_FORMER "SLURM_NUIOA_SRUN"

/* "JOB.STEP", for a rank that was told its place. */
#define NUIOA_VARIABLE_STEP "SLURM_NUIOA_STEP"

/* It holds the variables of other programs that nuioa has set in a rank: output/exported.h. */
#define NUIOA_VARIABLE_EXPORTED "SLURM_NUIOA_EXPORTED"

/* Sets the options that `environment` ("NAME=VALUE" strings, ended by NULL; may be NULL) has:
 * SLURM_NUIOA_POLICY=latency sets policy, and SLURM_NUIOA=on the main switch. A wrong value is
 * ignored and added to *warnings; so is a variable SLURM_NUIOA_* that is no option, or one that
 * went (nuioa_retired_table). `warnings` may be NULL. */
void nuioa_options_from_environment(struct nuioa_options *options, char *const *environment,
                                    struct nuioa_warnings *warnings);

#endif
