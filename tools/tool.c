/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"
#include "util/error.h"

/* getopt_long is not used: it does not take '_' for '-', and needs a table of its own. */

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(*a == '_' && *b == '-'))
            return false;
    return *a == *b;
}

/* Splits the next argument into name and value. The names that srun has, such as --nuioa-mem, are
 * taken for those of this command, because the report names them. */
static int next_option(struct tool_args *args)
{
    static const char prefix[] = "--nuioa-";
    const char *word = args->argv[args->next++];
    if (!strcmp(args->command, "plan") && !strncmp(word, "-n", 2)) { /* as srun's: -n 4, -n4 */
        strcpy(args->name, "tasks");
        args->value = word[2] ? word + 2 : NULL;
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
    args->value = equals ? equals + 1 : NULL;
    return 0;
}

const char *tool_args_value(struct tool_args *args)
{
    if (!args->value && args->next < args->argc)
        args->value = args->argv[args->next++];
    if (!args->value)
        tool_usage(args->command, "--%s needs a value", args->name);
    return args->value;
}

/* Returns true for an option whose value is the name of a file, which cannot be empty. */
static bool names_file(const char *name)
{
    static const char *const names[] = { "binding",  "distances", "heatmap", "hints",
                                         "hostfile", "matrix",    "network", "out",
                                         "root",     "topology",  "xml" };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static int take(struct tool_args *args, const struct tool_option *option)
{
    if (option->value) {
        *option->value = tool_args_value(args);
        if (*option->value && !**option->value && names_file(option->name))
            return tool_usage(args->command, "--%s: '' is not a file name", args->name);
        return *option->value ? 0 : TOOL_USAGE;
    }
    if (args->value)
        return tool_usage(args->command, "--%s takes no value", args->name);
    *option->flag = true;
    return 0;
}

static int read_option(struct tool_args *args, const struct tool_option *option,
                       int (*other)(struct tool_args *args, void *context), void *context)
{
    int rc = next_option(args);
    if (rc)
        return rc;
    while (option->name && !same_name(args->name, option->name))
        option++;
    if (option->name)
        return take(args, option);
    if (other)
        return other(args, context);
    return tool_usage(args->command, "--%s: no such option", args->name);
}

int tool_args_read(int argc, char **argv, const struct tool_option *options,
                   int (*other)(struct tool_args *args, void *context), void *context)
{
    struct tool_args args = { .command = argv[0], .argc = argc, .next = 1, .argv = argv };
    int rc = 0;
    while (args.next < argc && !rc)
        rc = read_option(&args, options, other, context);
    return rc;
}

int tool_args_read_words(int argc, char **argv, const struct tool_option *options,
                         const char **words, unsigned *word_count)
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
    return rc;
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
