/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"
#include "util/error.h"
#include "util/number.h"

/* getopt_long is not used: it does not take '_' for '-', and needs a table of its own. */

/* Splits the next argument into name and value. The names that srun has, such as --nuioa-mem, are
 * taken for those of this command, because the report names them. */
static int next_option(struct tool_args *args)
{
    static const char prefix[] = "--nuioa-";
    const char *word = args->argv[args->next++];
    const char *counts = !strcmp(args->command, "plan")      ? "tasks"
                         : !strcmp(args->command, "compare") ? "pairs"
                                                             : NULL;
    if (counts && !strncmp(word, "-n", 2)) { /* as srun's: -n 4, -n4 */
        strcpy(args->name, counts);
        args->value = word[2] ? word + 2 + (word[2] == '=') : NULL;
        return 0;
    }
    if (!strcmp(word, "-h"))
        word = "--help";
    const char *name = word + (strncmp(word, prefix, strlen(prefix)) ? 2 : strlen(prefix));
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    bool is_program = !strcmp(args->command, "exec") && *word && *word != '-';
    if (strncmp(word, "--", 2) || length < 3 || length - 2 >= sizeof(args->name))
        return tool_usage(args->command, "'%.80s' is not an option%s%.80s", word,
                          is_program ? ": the program comes after --, as in nuioa exec -- " : "",
                          is_program ? word : "");
    length -= (size_t)(name - word);
    memcpy(args->name, name, length);
    args->name[length] = '\0';
    for (char *c = args->name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    args->value = equals ? equals + 1 : NULL;
    return 0;
}

const char *tool_args_value(struct tool_args *args)
{
    if (!args->value && args->next < args->argc && strcmp(args->argv[args->next], "--") != 0)
        args->value = args->argv[args->next++];
    if (!args->value)
        tool_usage(args->command, "--%s needs a value", args->name);
    return args->value;
}

static int take(struct tool_args *args, struct tool_option *option)
{
    const char *next = args->next < args->argc ? args->argv[args->next] : "-";
    bool alone = option->flag || option->usage;
    if (option->gone)
        return tool_usage(args->command, "%s", option->gone);
    if (alone && !option->text && args->value)
        return tool_usage(args->command, "--%s takes no value", args->name);
    if (alone && option->text && !args->value && *next != '-')
        return tool_usage(args->command, "--%s: write --%s=%.40s", args->name, args->name, next);
    const char *value = alone ? args->value : tool_args_value(args);
    if (!alone && !value)
        return TOOL_USAGE;
    if ((option->file || option->what) && value && !*value)
        return tool_usage(args->command, "--%s: '' is not %s", args->name,
                          option->file ? "a file name" : option->what);
    if (option->flag)
        *option->flag = true;
    if (option->text)
        *option->text = value;
    if (option->file)
        *option->file = value;
    if (option->each)
        *(*option->each)++ = value;
    option->typed = value ? value : "";
    return 0;
}

/* Returns the option with the name of `length` bytes, or the end of the options. */
static struct tool_option *find(struct tool_option *options, const char *name, size_t length)
{
    while (options->name && (strncmp(options->name, name, length) || options->name[length]))
        options++;
    return options;
}

static int read_option(struct tool_args *args, struct tool_option *options,
                       int (*other)(struct tool_args *args, void *context), void *context)
{
    int rc = next_option(args);
    if (rc)
        return rc;
    struct tool_option *option = find(options, args->name, strlen(args->name));
    if (option->name)
        return take(args, option);
    if (other)
        return other(args, context);
    return tool_usage(args->command, "--%s: no such option", args->name);
}

static int read_number(const char *command, const struct tool_option *option)
{
    uint32_t number;
    if (nuioa_parse_u32(option->typed, option->max, &number) || number < option->min)
        return tool_usage(command, "--%s: '%.40s' is not a number from %u to %u", option->name,
                          option->typed, option->min, option->max);
    *option->number = number;
    return 0;
}

static int read_word(const char *command, const struct tool_option *option)
{
    uint32_t number = option->min;
    for (const char *word = option->words; *word; number++) {
        size_t length = strcspn(word, ",");
        if (length == strlen(option->typed) && !strncmp(word, option->typed, length)) {
            *option->number = number;
            return 0;
        }
        word += length + strspn(word + length, ", ");
    }
    return tool_usage(command, "--%s: '%.40s' is not one of %s", option->name, option->typed,
                      option->words);
}

/* Checks one option that was typed, beside all that were. */
static int check(const char *command, const struct tool_option *option, struct tool_option *options)
{
    const char *needs = option->needs, *excluded = option->excludes;
    if (needs && !find(options, needs, strcspn(needs, ":"))->typed)
        return tool_usage(command, "--%s requires --%s", option->name, needs);
    while (excluded && *excluded) {
        size_t length = strcspn(excluded, " ");
        const struct tool_option *found = find(options, excluded, length);
        if (found->typed)
            return tool_usage(command, "--%s and --%s exclude each other", option->name,
                              found->name);
        excluded += length + (excluded[length] == ' ');
    }
    if (option->words)
        return read_word(command, option);
    return option->number ? read_number(command, option) : 0;
}

static int settle(const char *command, struct tool_option *options)
{
    const struct tool_option *help = find(options, "help", strlen("help"));
    int rc = 0;
    if (help->usage && help->typed) {
        fputs(help->usage, stdout);
        return TOOL_HELPED;
    }
    bool helps = help->typed || (help->flag && *help->flag); /* --help, or --nuioa=help */
    for (const struct tool_option *o = options; o->name && !rc && !helps; o++)
        rc = o->typed ? check(command, o, options) : 0;
    return rc;
}

int tool_args_read(int argc, char **argv, struct tool_option *options,
                   int (*other)(struct tool_args *args, void *context), void *context)
{
    struct tool_args args = { .command = argv[0], .argc = argc, .next = 1, .argv = argv };
    int rc = 0;
    while (args.next < argc && !rc)
        rc = read_option(&args, options, other, context);
    return rc ? rc : settle(argv[0], options);
}

int tool_args_read_words(int argc, char **argv, struct tool_option *options, const char **words,
                         unsigned *word_count)
{
    struct tool_args args = { .command = argv[0], .argc = argc, .next = 1, .argv = argv };
    int rc = 0;
    *word_count = 0;
    while (args.next < argc && !rc)
        if (!argv[args.next][0])
            rc = tool_usage(argv[0], "'' is not a file name");
        else if (argv[args.next][0] != '-' || !argv[args.next][1])
            words[(*word_count)++] = argv[args.next++];
        else
            rc = read_option(&args, options, NULL, NULL);
    return rc ? rc : settle(argv[0], options);
}

int tool_args_read_program(int argc, char **argv, struct tool_option *options, char ***program)
{
    struct tool_args args = { .command = argv[0], .argc = argc, .next = 1, .argv = argv };
    int rc = 0;
    while (args.next < argc && !rc && *argv[args.next] == '-' && strcmp(argv[args.next], "--") != 0)
        rc = read_option(&args, options, NULL, NULL);
    *program = argv + args.next + (args.next < argc && !strcmp(argv[args.next], "--"));
    return rc ? rc : settle(argv[0], options);
}

int tool_set_option(struct tool_args *args, struct nuioa_options *options)
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

int tool_print_options(const char *usage)
{
    fputs(usage, stdout);
    nuioa_options_help(stdout);
    return TOOL_DONE;
}

/* nuioa_fail makes the line safe to print: it may quote anything that was typed or read. */
int tool_fail(const char *fmt, ...)
{
    char text[512];
    struct nuioa_error line;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    nuioa_fail(&line, -1, "%s", text);
    fprintf(stderr, "nuioa: %s\n", line.text);
    return TOOL_UNANSWERED;
}

void tool_warn(const struct nuioa_warnings *warnings)
{
    for (unsigned i = 0; i < warnings->count; i++)
        fprintf(stderr, "nuioa: warning: %s\n", warnings->text[i]);
}

int tool_usage(const char *command, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    tool_fail("%s; see nuioa %s%s--help", text, command ? command : "", command ? " " : "");
    return TOOL_USAGE;
}

const char *tool_bytes(double bytes, char text[24])
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
    size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < sizeof(units) / sizeof(*units)) {
        bytes /= 1000;
        unit++;
    }
    snprintf(text, 24, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

int tool_print(char *text)
{
    if (!text)
        return tool_fail("out of memory");
    fputs(text, stdout);
    free(text);
    return TOOL_DONE;
}
