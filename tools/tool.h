/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_H
#define NUIOA_TOOL_H

#include <stdbool.h>

#include "util/error.h"

/* What the commands of nuioa(1) share. Results go to stdout, everything else to stderr. */

enum { TOOL_DONE = 0, TOOL_UNANSWERED = 1, TOOL_USAGE = 2 };

/* One for each command: argv[0] is its name. Returns the exit status. */
int tool_topo(int argc, char **argv);
int tool_plan(int argc, char **argv);
int tool_cache(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_probe(int argc, char **argv);
int tool_profile(int argc, char **argv);

/* "nuioa: ..." on stderr. Returns TOOL_UNANSWERED. */
int tool_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same with a pointer to the command's --help. Returns TOOL_USAGE. */
int tool_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A result: prints `text` (frees it; NULL means there was no memory). Returns the exit status. */
int tool_print(char *text);

/* An option of a command: takes a value (`value`) or none (`flag`). */
struct tool_option {
    const char *name;
    const char **value;
    bool *flag;
};

/* The option being read: its name without "--", and what followed '=' (NULL if nothing did). */
struct tool_args {
    const char *command;
    int argc, next;
    char **argv;
    char name[64];
    const char *value;
};

/* Reads a command's long options, "--name value" and "--name=value" alike, '_' as good as '-'; "-h"
 * is "--help". `options` ends with name == NULL. What it lacks goes to `other` (may be NULL), which
 * returns 0 or TOOL_USAGE. The same for the result; what is wrong is said on stderr. */
int tool_args_read(int argc, char **argv, const struct tool_option *options,
                   int (*other)(struct tool_args *args, void *context), void *context);

/* For a command that takes words beside options: they go to words[argc], in order. */
int tool_args_read_words(int argc, char **argv, const struct tool_option *options,
                         const char **words, unsigned *word_count);

/* The value: after '=', or the next argument. NULL if there is none, said on stderr. */
const char *tool_args_value(struct tool_args *args);

#endif
