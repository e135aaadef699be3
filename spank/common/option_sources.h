/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_OPTION_SOURCES_H
#define SPANK_COMMON_OPTION_SOURCES_H

#include "option/option.h"
#include "spank/common/flags.h"

/* Reads the option sources into one struct nuioa_options: the arguments in plugstack.conf, then the
 * environment, then the flags. A later source wins. */

/* The texts to read. The caller owns all of them. */
struct option_sources {
    int argc;                  /* the number of arguments in plugstack.conf */
    char **argv;               /* [argc]: these arguments, as Slurm splits them */
    char **environment;        /* "NAME=VALUE" strings, ended by NULL; NULL if there are none */
    const struct flags *flags; /* not NULL */
};

/* The warnings of plugstack.conf are for the administrator, those of the others for the user. */
struct option_warnings {
    struct nuioa_warnings plugstack;
    struct nuioa_warnings retired; /* options in plugstack.conf that went; never for users */
    struct nuioa_warnings user;
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
