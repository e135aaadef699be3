/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_OPTION_SOURCES_H
#define SPANK_OPTION_SOURCES_H

#include "plan/option.h"
#include "spank/flags.h"

/* The places that options come from, read into one struct nuioa_options: arguments in
 * plugstack.conf, then the environment, then flags; later ones win. */

/* Set by srun for the nodes, which never open a user's files: what a hints file says, as a list.
 * Empty: the file was no good, and the user has been told. */
#define OPTION_SOURCES_HINTS_LIST "SLURM_NUIOA_HINTS_LIST"

struct option_sources {
    int argc; /* of plugstack.conf */
    char **argv;
    char **environment;
    const struct flags *flags;
};

/* What was wrong, by option source, because each has another reader: the administrator, or the
 * user, who in turn wants to be stopped only by what he has just typed. */
struct option_warnings {
    struct nuioa_warnings plugstack;
    struct nuioa_warnings environment;
    struct nuioa_warnings flags;
};

/* Never fails: a value that is wrong is left out and complained about. */
void option_sources_read(const struct option_sources *sources, struct nuioa_options *options,
                         struct option_warnings *warnings);

/* By which option source the value of the option "hints" came. */
enum nuioa_option_source option_sources_of_hints(const struct option_sources *sources);

/* Value of a variable in `environment`, or NULL. */
const char *option_sources_variable(char **environment, const char *name);

#endif
