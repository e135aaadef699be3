#ifndef SPANK_OPTION_SOURCES_H
#define SPANK_OPTION_SOURCES_H

#include "plan/option.h"
#include "spank/flags.h"

/* The doors by which options come in, read into one struct nuioa_options: arguments in
 * plugstack.conf, then the environment, then flags; later ones win. */

/* Set by srun for the nodes, which never open a user's files: what a hints file says, as a list.
 * Empty: the file was no good, and the user has been told. */
#define DOORS_HINTS_LIST "SLURM_NUIOA_HINTS_LIST"

struct doors {
    int argc;      /* of plugstack.conf */
    char **argv;
    char **environment;
    const struct flags *flags;
};

/* What was wrong, by door, because each has another reader: the administrator, or the user, who in
 * turn wants to be stopped only by what he has just typed. */
struct complaints {
    struct nuioa_warnings plugstack;
    struct nuioa_warnings environment;
    struct nuioa_warnings flags;
};

/* Never fails: a value that is wrong is left out and complained about. */
void doors_read(const struct doors *doors, struct nuioa_options *options,
                struct complaints *complaints);

/* By which door the value of the option "hints" came. */
enum nuioa_door doors_of_hints(const struct doors *doors);

/* Value of a variable in `environment`, or NULL. */
const char *doors_variable(char **environment, const char *name);

#endif
