/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names in the table are shorter than this, in bytes. */
#define NAME_MAX_LENGTH 32

void nuioa_options_init(struct nuioa_options *options)
{
    memset(options, 0, offsetof(struct nuioa_options, hints));
    for (const struct nuioa_option *option = nuioa_option_table; *option->name; option++) {
        ((char *)options)[option->field] = '\0'; /* of a text; the others are 0 */
        if (*option->initial)
            option->set(option, options, option->initial, NULL);
    }
    options->export_given = false;
}

void nuioa_options_finish(struct nuioa_options *options)
{
    if (options->mode == NUIOA_OFF) {
        options->export_set = 0;
        options->leader = NUIOA_LEADER_OFF;
        return;
    }
    if (!options->export_given)
        options->export_set = options->asked ? NUIOA_EXPORT_AUTO : 0;
    else if (!(options->export_set & NUIOA_EXPORT_AUTO))
        return;
    options->export_set |= NUIOA_EXPORT_ENV | NUIOA_EXPORT_PMIX;
    if (options->mode != NUIOA_EXPORT)
        options->export_set |= NUIOA_EXPORT_LOCALITY;
}

bool nuioa_options_idle(const struct nuioa_options *options)
{
    return options->mode == NUIOA_OFF && !options->report;
}

/* --- names ----------------------------------------------------------------------------------- */

static bool is_main_switch(const struct nuioa_option *option)
{
    return option == nuioa_option_table;
}

static const char *name_at(const struct nuioa_option *option, enum nuioa_option_source source)
{
    return is_main_switch(option) && source == NUIOA_FROM_PLUGSTACK ? "default" : option->name;
}

/* Names of environment variables are in capitals; names in the table are not. */
static int folded(enum nuioa_option_source source, char c)
{
    return source == NUIOA_FROM_ENVIRONMENT ? tolower((unsigned char)c) : c;
}

static bool is_named(const char *name, enum nuioa_option_source source, const char *typed)
{
    for (; *name && *typed; name++, typed++)
        if (*name != folded(source, *typed) && !(*name == '_' && *typed == '-'))
            return false;
    return *name == *typed;
}

const struct nuioa_option *nuioa_option_find(enum nuioa_option_source source, const char *name)
{
    for (const struct nuioa_option *option = nuioa_option_table; *option->name; option++)
        if (is_named(name_at(option, source), source, name))
            return option;
    return NULL;
}

const struct nuioa_option *nuioa_retired_find(enum nuioa_option_source source, const char *name,
                                              const char *value)
{
    for (const struct nuioa_option *r = nuioa_retired_table; *r->name; r++)
        if (is_named(r->name, source, name) && (!r->values || (value && !strcmp(r->values, value))))
            return r;
    return NULL;
}

/* What stands before the name of an option in messages, by source. */
static const char prefixes[][20] = { "plugstack.conf: ", "SLURM_NUIOA_", "--nuioa-", "--" };

const char *nuioa_option_spelling(const struct nuioa_option *option,
                                  enum nuioa_option_source source, char *text, size_t size)
{
    bool is_variable = source == NUIOA_FROM_ENVIRONMENT;
    if (source == NUIOA_FROM_PLUGSTACK)
        nuioa_copy(text, size, name_at(option, source));
    else if (is_main_switch(option))
        nuioa_copy(text, size, is_variable ? "SLURM_NUIOA" : "--nuioa");
    else
        snprintf(text, size, "%s%s", prefixes[source], option->name);
    for (char *c = text; *c && source != NUIOA_FROM_PLUGSTACK; c++)
        *c = is_variable ? (char)toupper((unsigned char)*c) : *c == '_' ? '-' : *c;
    return text;
}

/* The least number of insertions, deletions and replacements that turn one name into the other: the
 * edit distance of Levenshtein ("Binary codes capable of correcting deletions, insertions, and
 * reversals", 1966), by dynamic programming with one row. */
static unsigned edit_distance(enum nuioa_option_source source, const char *a, const char *b)
{
    unsigned row[NAME_MAX_LENGTH + 1];
    size_t length = strlen(b);
    if (length > NAME_MAX_LENGTH || strlen(a) > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (unsigned i = 1; a[i - 1]; i++) {
        unsigned corner = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= length; j++) {
            unsigned best = corner + (folded(source, a[i - 1]) != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[length];
}

static int unknown_name(enum nuioa_option_source source, const char *name, struct nuioa_error *err)
{
    const struct nuioa_option *nearest = NULL;
    unsigned least = 3;
    for (const struct nuioa_option *option = nuioa_option_table; *option->name; option++) {
        unsigned distance = edit_distance(source, name, name_at(option, source));
        if (distance < least) {
            least = distance;
            nearest = option;
        }
    }
    char near[64] = "";
    if (nearest)
        nuioa_option_spelling(nearest, source, near, sizeof(near));
    return nuioa_fail(err, -ENOENT, "%s%.40s: no such option%s%s%s", prefixes[source], name,
                      nearest ? "; did you mean " : "", near, nearest ? "?" : "");
}

int nuioa_options_set(struct nuioa_options *options, enum nuioa_option_source source,
                      const char *name, const char *value, struct nuioa_error *err)
{
    const struct nuioa_option *option = nuioa_option_find(source, name);
    const struct nuioa_option *retired = nuioa_retired_find(source, name, value);
    if (!option && !retired)
        return unknown_name(source, name, err);
    if (source == NUIOA_FROM_ENVIRONMENT && value && !*value)
        return 0;

    char spelling[64];
    nuioa_option_spelling(retired ? retired : option, source, spelling, sizeof(spelling));
    const char *where = source == NUIOA_FROM_PLUGSTACK ? prefixes[source] : "";
    if (retired)
        return nuioa_fail(err, NUIOA_RETIRED, "%s%s%s%.40s does nothing any more: %s", where,
                          spelling, value ? "=" : "", value ? value : "", retired->help);
    if (option->admin && (source == NUIOA_FROM_ENVIRONMENT || source == NUIOA_FROM_COMMAND))
        return nuioa_fail(err, -EPERM, "%s: only plugstack.conf can set this", spelling);
    if (!value && is_main_switch(option) && source != NUIOA_FROM_PLUGSTACK)
        value = "on";
    if (!value)
        return nuioa_fail(err, -EINVAL, "%s%s: a value is missing (%s)", where, spelling,
                          option->values);

    if (source == NUIOA_FROM_PLUGSTACK && is_main_switch(option) && strstr(value, "help"))
        return nuioa_fail(err, -EINVAL, "%s%s: '%.40s': help is for srun --nuioa=help only", where,
                          spelling, value);

    struct nuioa_error detail = { "" };
    int rc = option->set(option, options, value, &detail);
    if (rc)
        return nuioa_fail(err, rc, "%s%s: %s", where, spelling, detail.text);
    if (is_main_switch(option))
        options->asked = source != NUIOA_FROM_PLUGSTACK;
    return 0;
}

void nuioa_options_set_line(struct nuioa_options *options, int argc, char *const *argv,
                            struct nuioa_warnings *warnings, struct nuioa_warnings *retired)
{
    char word[NUIOA_VALUE_MAX + 64], stray[128] = ""; /* a longer word is too long for any option */
    struct nuioa_error err;
    for (int i = 0; i < argc; i++) {
        nuioa_copy(word, sizeof(word), argv[i]);
        if (i == argc - 1)
            word[strcspn(word, "\r")] = '\0';
        char *equals = strchr(word, '=');
        if (!equals || equals == word || !equals[1]) {
            size_t used = strlen(stray);
            if (*word && used + 1 < sizeof(stray)) {
                stray[used] = ' ';
                nuioa_copy(stray + used + 1, sizeof(stray) - used - 1, word);
            }
            continue;
        }
        *equals = '\0';
        int rc = nuioa_options_set(options, NUIOA_FROM_PLUGSTACK, word, equals + 1, &err);
        if (rc)
            nuioa_warn(rc == NUIOA_RETIRED ? retired : warnings, "%s", err.text);
    }
    if (*stray)
        nuioa_warn(warnings, "plugstack.conf: '%s' does nothing: write NAME=VALUE without blanks",
                   stray + 1);
}

const char *nuioa_policy_name(enum nuioa_policy policy)
{
    static const char names[][12] = { "bandwidth", "latency" };
    return names[policy];
}

/* --- help ------------------------------------------------------------------------------------ */

enum { COLUMNS = 4 };
static const int column_width[COLUMNS] = { 14, 26, 11, 45 };

/* Returns how many characters of `text` go on a line of `width`: all of them if they fit, else as
 * many as end before a blank or after '|' or ','. */
static int line_length(const char *text, int width)
{
    int length = (int)strlen(text);
    if (length <= width)
        return length;
    for (int cut = width; cut > 0; cut--)
        if (text[cut] == ' ' || text[cut - 1] == '|' || text[cut - 1] == ',')
            return cut;
    return width;
}

static void print_row(FILE *out, const char *const cells[COLUMNS])
{
    const char *rest[COLUMNS];
    memcpy(rest, cells, sizeof(rest));
    bool more;
    do {
        char line[128];
        int length = 0;
        more = false;
        for (int i = 0; i < COLUMNS; i++) {
            int n = line_length(rest[i], column_width[i]);
            length += snprintf(line + length, sizeof(line) - (size_t)length, " %-*.*s",
                               column_width[i], n, rest[i]);
            rest[i] += n;
            rest[i] += strspn(rest[i], " ");
            more = more || *rest[i];
        }
        while (length && line[length - 1] == ' ')
            length--;
        fprintf(out, "%.*s\n", length, line);
    } while (more);
}

static void print_table(FILE *out, bool admin)
{
    print_row(out, (const char *const[]){ "name", "values", "default", "meaning" });
    for (const struct nuioa_option *option = nuioa_option_table; *option->name; option++)
        if (option->admin == admin)
            print_row(out, (const char *const[]){ option->name, option->values,
                                                  *option->initial ? option->initial : "-",
                                                  option->help });
}

void nuioa_options_help(FILE *out)
{
    fprintf(out, "Options: srun --nuioa-NAME=VALUE (plain --nuioa means on), environment "
                 "SLURM_NUIOA_NAME=VALUE,\nplugstack.conf argument name=VALUE (the switch is "
                 "default=), nuioa plan --NAME VALUE.\n\n");
    print_table(out, false);
    fprintf(out, "\nOnly in plugstack.conf, or to nuioa plan:\n\n");
    print_table(out, true);
}
