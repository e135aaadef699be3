/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spank/common/slurm_compat.h"

#define FLAG_TEXT 64

/* The flag of an option as Slurm wants it, without "--". `text` has FLAG_TEXT bytes. */
static const char *flag_name(const struct nuioa_option *option, char *text)
{
    nuioa_option_spelling(option, NUIOA_FROM_COMMAND, text, FLAG_TEXT);
    return text + strlen("--");
}

static void register_one(spank_t spank, const struct nuioa_option *option, int index,
                         spank_opt_cb_f on_flag)
{
    char name[FLAG_TEXT];
    struct spank_option flag = {
        .name = (char *)flag_name(option, name),
        .arginfo = (char *)option->values,
        .usage = (char *)option->help,
        .has_arg = index == 0 ? 2 : 1, /* --nuioa may stand without a value */
        .val = index,
        .cb = on_flag,
    };
    spank_option_register(spank, &flag);
}

/* Options that only an administrator may set are no flags. Those that went follow the others; they
 * are no flags if a single value went. */
void flags_register(spank_t spank, spank_opt_cb_f on_flag)
{
    for (int i = 0; *nuioa_option_table[i].name; i++)
        if (!nuioa_option_table[i].admin)
            register_one(spank, &nuioa_option_table[i], i, on_flag);
    for (int i = 0; *nuioa_retired_table[i].name; i++) {
        struct nuioa_option gone = nuioa_retired_table[i];
        gone.values = "...";
        gone.help = "does nothing any more";
        if (!gone.admin && !nuioa_retired_table[i].values)
            register_one(spank, &gone, FLAGS_MAX + i, on_flag);
    }
}

/* Returns the value that a flag stands for: Slurm gives the nodes an empty one for a flag without.
 */
static const char *value_of(int index, const char *value)
{
    if (index == 0 && (!value || !*value))
        return "on";
    return value ? value : "";
}

const char *flags_option(int index)
{
    return index < FLAGS_MAX ? nuioa_option_table[index].name
                             : nuioa_retired_table[index - FLAGS_MAX].name;
}

const char *flags_typed(const struct flags *flags, int index, const char *value)
{
    const char *kept = index < FLAGS_MAX ? flags->typed[index] : NULL;
    return kept ? kept : value_of(index, value);
}

void flags_drop(struct flags *flags, int index)
{
    if (index >= FLAGS_MAX)
        return;
    free(flags->typed[index]);
    flags->typed[index] = NULL;
}

void flags_take(struct flags *flags, int index, const char *value)
{
    if (index < 0 || index >= FLAGS_MAX)
        return;
    free(flags->typed[index]);
    flags->typed[index] = strdup(value_of(index, value));
    flags->lost = flags->lost || !flags->typed[index];
}

/* Appends a further value of --nuioa. */
static void append(struct flags *flags, const char *value)
{
    char *all;
    if (asprintf(&all, "%s,%s", flags->typed[0], value_of(0, value)) < 0) {
        flags->lost = true;
        return;
    }
    free(flags->typed[0]);
    flags->typed[0] = all;
    flags->merged = true;
}

/* Returns true if the two values cannot count together. */
static bool excludes(const char *typed, const char *value)
{
    char both[256];
    struct nuioa_error err;
    struct nuioa_options options;
    int length = snprintf(both, sizeof(both), "%s,%s", typed, value_of(0, value));
    nuioa_options_init(&options);
    return length < 0 || (size_t)length >= sizeof(both) ||
           nuioa_options_set(&options, NUIOA_FROM_COMMAND, "nuioa", both, &err) < 0;
}

void flags_join(struct flags *flags, int index, const char *value)
{
    bool here = index == 0 && slurm_compat_is_typed("nuioa", value);
    if (index == 0 && flags->typed[0] && here == flags->on_command_line &&
        !(flags->component_over && excludes(flags->typed[0], value))) {
        append(flags, value);
    } else if (index != 0 || here || !flags->typed[0]) {
        flags_take(flags, index, value);
        flags->on_command_line |= here;
        flags->merged &= index != 0;
    }
}

void flags_free(struct flags *flags)
{
    for (int i = 0; i < FLAGS_MAX; i++)
        free(flags->typed[i]);
    memset(flags, 0, sizeof(*flags));
}

void flags_export(const struct flags *flags, spank_t spank)
{
    char variable[FLAG_TEXT], name[FLAG_TEXT];
    for (int i = 0; *nuioa_option_table[i].name; i++) {
        if (!flags->typed[i])
            continue;
        nuioa_option_spelling(&nuioa_option_table[i], NUIOA_FROM_ENVIRONMENT, variable,
                              sizeof(variable));
        if (!setenv(variable, flags->typed[i], 1))
            slurm_compat_unset_flag(spank, flag_name(&nuioa_option_table[i], name));
    }
    /* sbatch and salloc have said of those that went what there is to say. */
    for (const struct nuioa_option *r = nuioa_retired_table; *r->name; r++)
        slurm_compat_unset_flag(spank, flag_name(r, name));
}
