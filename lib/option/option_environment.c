/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/option_environment.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "SLURM_NUIOA"
/* More than any option's name has, so that a name that is cut stays unknown. */
#define NAME_SIZE 64

static bool is_private(const char *variable, size_t length)
{
    static const char names[][32] = { NUIOA_VARIABLE_HINTS_LIST, NUIOA_VARIABLE_HINTS_PATH,
                                      NUIOA_VARIABLE_SWITCH,     NUIOA_VARIABLE_OVERLAP,
                                      NUIOA_VARIABLE_OUTER,      NUIOA_VARIABLE_COLLECTOR,
                                      NUIOA_VARIABLE_FORMER,     NUIOA_VARIABLE_STEP,
                                      NUIOA_VARIABLE_EXPORTED };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == length && !strncmp(variable, names[i], length))
            return true;
    return false;
}

static void read_variable(struct nuioa_options *options, const char *variable,
                          struct nuioa_warnings *warnings)
{
    const char *rest = variable + strlen(PREFIX);
    const char *equals = strchr(variable, '=');
    if (strncmp(variable, PREFIX, strlen(PREFIX)) || !equals || (*rest != '=' && *rest != '_') ||
        is_private(variable, (size_t)(equals - variable)))
        return;
    char name[NAME_SIZE] = "nuioa";
    struct nuioa_error err;
    if (*rest == '_')
        snprintf(name, sizeof(name), "%.*s", (int)(equals - rest - 1), rest + 1);
    if (nuioa_options_set(options, NUIOA_FROM_ENVIRONMENT, name, equals + 1, &err))
        nuioa_warn(warnings, "%s", err.text);
}

void nuioa_options_from_environment(struct nuioa_options *options, char *const *environment,
                                    struct nuioa_warnings *warnings)
{
    for (; environment && *environment; environment++)
        read_variable(options, *environment, warnings);
}
