/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/option_sources.h"

#include <string.h>

#include "option/option_environment.h"
#include "util/variable.h"

/* Returns the value of a flag, or NULL if it was not typed. */
static const char *flag_of(const struct option_sources *sources, int index)
{
    const char *typed = sources->flags->typed[index];
    const char *joined =
        index == 0 && typed ? nuioa_variable(sources->environment, NUIOA_VARIABLE_SWITCH) : NULL;
    return joined && *joined ? joined : typed;
}

void option_sources_read(const struct option_sources *sources, struct nuioa_options *options,
                         struct option_warnings *warnings)
{
    struct nuioa_error err;
    nuioa_warnings_clear(&warnings->plugstack);
    nuioa_warnings_clear(&warnings->retired);
    nuioa_warnings_clear(&warnings->user);
    nuioa_options_init(options);
    nuioa_options_set_line(options, sources->argc, sources->argv, &warnings->plugstack,
                           &warnings->retired);
    nuioa_options_from_environment(options, sources->environment, &warnings->user);
    for (int i = 0; *nuioa_option_table[i].name; i++) {
        const char *flag = flag_of(sources, i);
        if (flag && nuioa_options_set(options, NUIOA_FROM_COMMAND, nuioa_option_table[i].name, flag,
                                      &err) < 0)
            nuioa_warn(&warnings->user, "%s", err.text);
    }
    nuioa_options_finish(options);
}

enum nuioa_option_source option_sources_of(const struct option_sources *sources, const char *name)
{
    const struct nuioa_option *option = nuioa_option_find(NUIOA_FROM_COMMAND, name);
    char variable[64]; /* more than any has */
    if (sources->flags->typed[option - nuioa_option_table])
        return NUIOA_FROM_COMMAND;
    nuioa_option_spelling(option, NUIOA_FROM_ENVIRONMENT, variable, sizeof(variable));
    const char *value = nuioa_variable(sources->environment, variable);
    return value && *value ? NUIOA_FROM_ENVIRONMENT : NUIOA_FROM_PLUGSTACK;
}
