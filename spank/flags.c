/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/flags.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_TEXT 64

static const char *flag_name(const struct nuioa_option *option, char *text)
{
    nuioa_option_spelling(option, NUIOA_FROM_COMMAND, text, FLAG_TEXT);
    return text + strlen("--");
}

static void register_one(spank_t spank, int index, spank_opt_cb_f taken)
{
    const struct nuioa_option *option = &nuioa_option_table[index];
    char name[FLAG_TEXT], values[128], usage[256];
    nuioa_copy(values, sizeof(values), option->values);
    nuioa_copy(usage, sizeof(usage), option->help);
    struct spank_option flag = {
        .name = (char *)flag_name(option, name),
        .arginfo = values,
        .usage = usage,
        .has_arg = index == 0 ? 2 : 1, /* plain --nuioa is a whole sentence */
        .val = index,
        .cb = taken,
    };
    spank_option_register(spank, &flag);
}

/* What only an administrator may say is no flag. */
void flags_register(spank_t spank, spank_opt_cb_f taken)
{
    for (int i = 0; i < FLAGS_MAX && nuioa_option_table[i].name; i++)
        if (!nuioa_option_table[i].admin)
            register_one(spank, i, taken);
}

void flags_take(struct flags *flags, int index, const char *value)
{
    if (index < 0 || index >= FLAGS_MAX)
        return;
    /* Slurm carries "no value" to the nodes as an empty one. */
    if (index == 0 && (!value || !*value))
        value = "on";
    free(flags->typed[index]);
    flags->typed[index] = strdup(value ? value : "");
}

void flags_free(struct flags *flags)
{
    for (int i = 0; i < FLAGS_MAX; i++)
        free(flags->typed[i]);
    memset(flags, 0, sizeof(*flags));
}

static void drop_slurms_own(const struct nuioa_option *option)
{
    char name[FLAG_TEXT], variable[2 * FLAG_TEXT];
    snprintf(variable, sizeof(variable), "_SLURM_SPANK_OPTION_nuioa_%s", flag_name(option, name));
    for (char *c = variable; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    unsetenv(variable);
}

void flags_export(const struct flags *flags)
{
    for (int i = 0; i < FLAGS_MAX && nuioa_option_table[i].name; i++) {
        char variable[FLAG_TEXT];
        if (!flags->typed[i])
            continue;
        setenv(nuioa_option_variable(&nuioa_option_table[i], variable, sizeof(variable)),
               flags->typed[i], 1);
        drop_slurms_own(&nuioa_option_table[i]);
    }
}
