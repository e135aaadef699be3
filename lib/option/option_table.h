/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OPTION_OPTION_TABLE_H
#define NUIOA_OPTION_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* The table of options: all names, accepted values, defaults and help texts. Those that users may
 * set come before those of the administrator. option/option.h reads and writes options by name. */

struct nuioa_options;

struct nuioa_option;

/* Reads `value` and stores it in `options`. Returns 0; or, for a value that is not accepted, a
 * negative errno (-EINVAL; -ENOMEM for hints) with *err, and nothing is changed. `err` may be
 * NULL. */
typedef int nuioa_option_setter(const struct nuioa_option *option, struct nuioa_options *options,
                                const char *value, struct nuioa_error *err);

struct nuioa_option {
    char name[16];      /* "policy"; the main switch is "nuioa" ("default" in plugstack.conf) */
    const char *values; /* "bandwidth|latency": the accepted words, as help and errors show. Where
                            an option is an enum or bits, in the order of these */
    char initial[12];   /* the built-in default, as a user would type it; "" if there is none. For
                            a text it takes back what an earlier source has set */
    const char *help;   /* its meaning, one line for nuioa_options_help */
    bool admin;         /* only plugstack.conf and the command line of nuioa(1) may set it */
    nuioa_option_setter *set; /* only nuioa_options_init and nuioa_options_set call it */
    size_t field, size; /* offset and size in bytes of the option's field in struct nuioa_options */
};

/* There are no more options than this, for arrays with one element for each. */
#define NUIOA_OPTIONS_MAX 32

/* All options. The first entry is the main switch; the last entry has no name. */
extern const struct nuioa_option nuioa_option_table[];

/* The options that went since 1.0 (`values` is NULL), and the values that went of options that
 * stay. `help` says what to do instead. Somebody who still types one gets one line, and his launch
 * goes on without it. srun knows their flags until 2.0. The last entry has no name. */
extern const struct nuioa_option nuioa_retired_table[];

#endif
