#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* Options come from the option table as well as from a command, which getopt_long cannot mix without
 * copying; and '_' must be as good as '-'. */

void tool_args_init(struct tool_args *args, int argc, char **argv)
{
    memset(args, 0, sizeof(*args));
    args->argc = argc;
    args->argv = argv;
    args->next = 1;
}

int tool_args_next(struct tool_args *args)
{
    if (args->next >= args->argc)
        return 0;
    const char *word = args->argv[args->next++];
    args->value = NULL;
    args->name = args->name_text;
    if (!strcmp(word, "-h"))
        word = "--help";
    if (strncmp(word, "--", 2) || !word[2])
        return -tool_usage(args->argv[0], "'%.80s' is not an option", word);
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    if (length >= sizeof(args->name_text))
        return -tool_usage(args->argv[0], "'%.80s...' is not an option", word);
    memcpy(args->name_text, word + 2, length);
    args->name_text[length] = '\0';
    args->value = equals ? equals + 1 : NULL;
    return 1;
}

const char *tool_args_value(struct tool_args *args)
{
    if (!args->value && args->next < args->argc)
        args->value = args->argv[args->next++];
    if (!args->value)
        tool_usage(args->argv[0], "--%s needs a value", args->name);
    return args->value;
}

bool tool_args_is(const struct tool_args *args, const char *name)
{
    const char *a = args->name;
    for (; *a && *name; a++, name++)
        if (*a != *name && !(*a == '_' && *name == '-'))
            return false;
    return *a == *name;
}

int tool_args_unknown(const struct tool_args *args)
{
    return tool_usage(args->argv[0], "--%s: no such option", args->name);
}

int tool_args_no_value(const struct tool_args *args)
{
    return tool_usage(args->argv[0], "--%s takes no value", args->name);
}

/* Goes through nuioa_fail because what is printed may quote anything that was typed or read. */
static void complain(const char *fmt, va_list args)
{
    char text[512];
    struct nuioa_error line;
    vsnprintf(text, sizeof(text), fmt, args);
    nuioa_fail(&line, -1, "%s", text);
    fprintf(stderr, "nuioa: %s\n", line.text);
}

int tool_fail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    complain(fmt, args);
    va_end(args);
    return TOOL_UNANSWERED;
}

int tool_usage(const char *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    complain(fmt, args);
    va_end(args);
    if (command)
        fprintf(stderr, "Try 'nuioa %s --help'.\n", command);
    else
        fprintf(stderr, "Try 'nuioa --help'.\n");
    return TOOL_USAGE;
}

int tool_print(char *text)
{
    if (!text)
        return tool_fail("out of memory");
    fputs(text, stdout);
    free(text);
    return TOOL_DONE;
}
