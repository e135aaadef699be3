/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_OPTION_SOURCES_H
#define SPANK_COMMON_OPTION_SOURCES_H

#include "option/option.h"
#include "spank/common/flags.h"

/* Reads the option sources into one struct nuioa_options: the arguments in plugstack.conf, then the
 * environment, then the flags. A later source wins. */

/* This variable brings the nodes the hints of a file, as a list, because slurmstepd runs as root
 * and never opens a user's file. srun sets it. It is empty if the file cannot be used, which srun
 * has told the user, or if the list is too long and comes through the rendezvous. */
#define OPTION_SOURCES_HINTS_LIST "SLURM_NUIOA_HINTS_LIST"

/* srun sets this variable for the nodes where --nuioa was typed more than once: what all of them
 * say. Slurm hands the nodes the last one only. */
#define OPTION_SOURCES_SWITCH "SLURM_NUIOA_SWITCH"

/* srun sets this variable for the nodes where the user gave --overlap, because Slurm does not tell
 * them. */
#define OPTION_SOURCES_OVERLAP "SLURM_NUIOA_OVERLAP"

/* srun sets this variable beside OMPI_MCA_coll_han_priority=0 (output/user_variables.h), which does
 * not reach the nodes with --export=NONE. It stays in the ranks, so that an inner srun knows that
 * the other one is not the user's. */
#define OPTION_SOURCES_HAN "SLURM_NUIOA_HAN"

/* The plugin sets this variable for the ranks that it tells their place: "JOB.STEP". `nuioa exec`
 * reads it, and it is no option either. */
#define OPTION_SOURCES_STEP "SLURM_NUIOA_STEP"

/* The texts to read. The caller owns all of them. */
struct option_sources {
    int argc;                  /* the number of arguments in plugstack.conf */
    char **argv;               /* [argc]: these arguments, as Slurm splits them */
    char **environment;        /* "NAME=VALUE" strings, ended by NULL; NULL if there are none */
    const struct flags *flags; /* not NULL */
};

/* The warnings of each option source. They are kept apart because they are for different people:
 * those of plugstack.conf for the administrator, the others for the user. */
struct option_warnings {
    struct nuioa_warnings plugstack;
    struct nuioa_warnings environment;
    struct nuioa_warnings flags;
};

/* Fills *options, with the default where no source sets an option, and replaces *warnings. It keeps
 * no pointer to the texts, and the caller has nothing to free. It cannot fail: a wrong value is
 * ignored and becomes a warning. */
void option_sources_read(const struct option_sources *sources, struct nuioa_options *options,
                         struct option_warnings *warnings);

/* Returns the source that sets the option `name`, an option of the table for users;
 * NUIOA_FROM_PLUGSTACK also if none sets it. */
enum nuioa_option_source option_sources_of(const struct option_sources *sources, const char *name);

#endif
