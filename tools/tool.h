#ifndef NUIOA_TOOL_H
#define NUIOA_TOOL_H

#include <stdbool.h>

#include "error.h"

/* What the commands of nuioa(1) share. Results go to stdout, everything else to stderr. */

enum { TOOL_DONE = 0, TOOL_UNANSWERED = 1, TOOL_USAGE = 2 };

/* One for each command: argv[0] is its name. Returns the exit status. */
int tool_topo(int argc, char **argv);
int tool_plan(int argc, char **argv);
int tool_cache(int argc, char **argv);

/* "nuioa: ..." on stderr. Returns TOOL_UNANSWERED. */
int tool_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same with a pointer to the command's --help. Returns TOOL_USAGE. */
int tool_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A result: prints `text` (frees it; NULL means there was no memory). Returns the exit status. */
int tool_print(char *text);

/* Walks long options, "--name value" and "--name=value" alike. */
struct tool_args {
    int argc, next;
    char **argv;
    const char *name;  /* of the current option, without "--", up to '=' */
    char name_text[64];
    const char *value; /* after '=', or NULL */
};

void tool_args_init(struct tool_args *args, int argc, char **argv);

/* 1: the next option is in `name` and `value`; 0: no more; TOOL_USAGE negated: not an option, said on
 * stderr. "-h" is "help". */
int tool_args_next(struct tool_args *args);

/* The value: after '=', or the next argument. NULL if there is none, said on stderr. */
const char *tool_args_value(struct tool_args *args);

/* Whether the current option is `name` ('-' and '_' are the same). */
bool tool_args_is(const struct tool_args *args, const char *name);

/* Complains about the current option, or about a value it should not have. Return TOOL_USAGE. */
int tool_args_unknown(const struct tool_args *args);
int tool_args_no_value(const struct tool_args *args);

#endif
