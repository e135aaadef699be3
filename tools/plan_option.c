/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/plan_option.h"

#include <stdio.h>
#include <string.h>

int plan_option_set(struct tool_args *args, struct nuioa_options *options)
{
    struct nuioa_error err;
    const struct nuioa_option *option = nuioa_option_find(NUIOA_FROM_TOOL, args->name);
    const char *value = args->value;
    bool is_switch = option == nuioa_option_table;
    bool follows = args->next < args->argc && strncmp(args->argv[args->next], "--", 2);
    bool retired = !option && nuioa_retired_find(NUIOA_FROM_TOOL, args->name, NULL);
    if ((option && !value && (!is_switch || follows)) || (retired && !value && follows)) {
        value = tool_args_value(args);
        if (!value)
            return TOOL_USAGE;
    }
    int rc = nuioa_options_set(options, NUIOA_FROM_TOOL, args->name, value, &err);
    if (rc == NUIOA_RETIRED)
        fprintf(stderr, "nuioa: warning: %s\n", err.text);
    else if (rc)
        return tool_usage(args->command, "%s", err.text);
    return 0;
}

int plan_option_help(const char *usage)
{
    fputs(usage, stdout);
    return tool_print(nuioa_options_help());
}
