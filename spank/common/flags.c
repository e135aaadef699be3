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

static void register_one(spank_t spank, int index, spank_opt_cb_f on_flag)
{
    const struct nuioa_option *option = &nuioa_option_table[index];
    char name[FLAG_TEXT], values[128], usage[256];
    nuioa_copy(values, sizeof(values), option->values);
    nuioa_copy(usage, sizeof(usage), option->help);
    struct spank_option flag = {
        .name = (char *)flag_name(option, name),
        .arginfo = values,
        .usage = usage,
        .has_arg = index == 0 ? 2 : 1, /* --nuioa may stand without a value */
        .val = index,
        .cb = on_flag,
    };
    spank_option_register(spank, &flag);
}

/* The flags of options that went: behind those of the table. */
static void register_retired(spank_t spank, spank_opt_cb_f on_flag)
{
    for (int i = 0; *nuioa_retired_table[i].name; i++) {
        char name[FLAG_TEXT], values[] = "...", usage[] = "does nothing any more";
        nuioa_retired_spelling(&nuioa_retired_table[i], NUIOA_FROM_COMMAND, name, sizeof(name));
        struct spank_option flag = {
            .name = name + strlen("--"),
            .arginfo = values,
            .usage = usage,
            .has_arg = 1,
            .val = FLAGS_MAX + i,
            .cb = on_flag,
        };
        if (!nuioa_retired_table[i].admin && !nuioa_retired_table[i].value)
            spank_option_register(spank, &flag);
    }
}

/* Options that only an administrator may set are no flags. */
void flags_register(spank_t spank, spank_opt_cb_f on_flag)
{
    for (int i = 0; *nuioa_option_table[i].name; i++)
        if (!nuioa_option_table[i].admin)
            register_one(spank, i, on_flag);
    register_retired(spank, on_flag);
}

/* Slurm gives the nodes an empty value for a flag without one. */
const char *flags_value(int index, const char *value)
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
    return kept ? kept : flags_value(index, value);
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
    flags->typed[index] = strdup(flags_value(index, value));
    flags->lost = flags->lost || !flags->typed[index];
}

/* Appends a further value of --nuioa. */
static void append(struct flags *flags, const char *value)
{
    char *all;
    if (asprintf(&all, "%s,%s", flags->typed[0], flags_value(0, value)) < 0) {
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
    int length = snprintf(both, sizeof(both), "%s,%s", typed, flags_value(0, value));
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

/* sbatch and salloc have said of those that were typed what there is to say. */
static void forget_retired(spank_t spank)
{
    char name[FLAG_TEXT];
    for (const struct nuioa_retired *r = nuioa_retired_table; *r->name; r++) {
        nuioa_retired_spelling(r, NUIOA_FROM_COMMAND, name, sizeof(name));
        slurm_compat_unset_flag(spank, name + strlen("--"));
    }
}

void flags_export(const struct flags *flags, spank_t spank)
{
    for (int i = 0; *nuioa_option_table[i].name; i++) {
        char variable[FLAG_TEXT], name[FLAG_TEXT];
        if (!flags->typed[i])
            continue;
        nuioa_option_variable(&nuioa_option_table[i], variable, sizeof(variable));
        if (!setenv(variable, flags->typed[i], 1))
            slurm_compat_unset_flag(spank, flag_name(&nuioa_option_table[i], name));
    }
    forget_retired(spank);
}
