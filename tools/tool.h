/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_TOOL_H
#define NUIOA_TOOL_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "option/option.h"
#include "util/error.h"

/* Messages, exit status and options of the command line, for all commands of nuioa(1). Results go
 * to stdout, everything else to stderr. */

/* The exit status: the command did what was asked; it could not; it was used wrongly. */
enum { TOOL_DONE = 0, TOOL_UNANSWERED = 1, TOOL_USAGE = 2 };

/* A command returns this after --help; its exit status is then TOOL_DONE. */
enum { TOOL_HELPED = -1 };

/* Prints "nuioa: MESSAGE" on stderr, one line of at most 255 bytes that is formatted as by printf.
 * Returns TOOL_UNANSWERED, always. */
int tool_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message as tool_fail does, which ends with the --help of `command`, or of nuioa if it is
 * NULL. Returns TOOL_USAGE, always. */
int tool_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints each as "nuioa: warning: TEXT" on stderr. */
void tool_warn(const struct nuioa_warnings *warnings);

/* Prints a text to stdout and frees it with free(). If `text` is NULL, its maker had no memory, and
 * the message says so. Returns the exit status. */
int tool_print(char *text);

/* Writes a number of bytes for a person, such as "1.5 GB", to `text`, and returns it. */
const char *tool_bytes(double bytes, char text[24]);

/* One option of a command, and what it sets; that stays as it is if the option is not typed. */
struct tool_option {
    const char *name; /* without "--" */
    bool *flag;
    const char **text;  /* its value; beside `flag`, what follows '=', or NULL */
    const char **file;  /* its value, which cannot be empty */
    const char *what;   /* what `text` is, such as "a command", if it cannot be empty */
    const char ***each; /* where its next value goes, as it may be there more than once */
    uint32_t *number;   /* its value, a number from `min` to `max`; or `min` plus the place of its
                           value in `words`, such as "size, msg, avg" */
    uint32_t min, max;
    const char *words;
    const char *needs;    /* another option, and why behind a ':' */
    const char *excludes; /* other options, with blanks between */
    const char *gone;     /* what is said of it, as it is no option any more */
    const char *usage;    /* of "help": what is printed */
    const char *typed;    /* set by tool_args_read: what was typed, or "" */
};

/* The options while they are read. All texts are those of argv. */
struct tool_args {
    const char *command;
    int argc, next;
    char **argv;
    char name[64];     /* of the option that is being read, without "--" */
    const char *value; /* what followed '=', or NULL */
};

/* Reads long options of a command, argv[1] to argv[argc - 1]; argv[0] is the command: "--name
 * value" and "--name=value". '_' in a name is taken as '-', "--nuioa-name", as srun calls it, as
 * "--name", "-h" as "--help", "-n" of plan as "--tasks", and that of compare as "--pairs". Of an
 * option that is there twice the last one counts, unless it has `each`. `options` ends with name ==
 * NULL. An option that is not in it is given to other(args, context), which returns 0 or
 * TOOL_USAGE; if `other` is NULL, it is an error. With "help", nothing else is checked. Returns 0;
 * TOOL_HELPED if the usage was printed; or TOOL_USAGE after a message on stderr. Texts point into
 * argv. */
int tool_args_read(int argc, char **argv, struct tool_option *options,
                   int (*other)(struct tool_args *args, void *context), void *context);

/* As tool_args_read without `other`, for a command that also takes words that are no options:
 * writes them to `words`, which has room for argc, and their number to *word_count; "-" is one. The
 * words point into argv. */
int tool_args_read_words(int argc, char **argv, struct tool_option *options, const char **words,
                         unsigned *word_count);

/* As tool_args_read without `other`, for a command that starts a program: options end at "--" or at
 * the first word that is none. Sets *program to the words of argv behind them, and a NULL. */
int tool_args_read_program(int argc, char **argv, struct tool_option *options, char ***program);

/* Returns the value of the option that is being read, for `other`: what followed '=', or the next
 * argument, which is then used up and is not "--". The value points into argv. Returns NULL after a
 * message on stderr if there is none. */
const char *tool_args_value(struct tool_args *args);

/* Sets the option of a plan (lib/option/option_table.h) that is being read. As for srun, --nuioa
 * needs no value: one is taken only if the next argument is no option. Returns 0, also after a
 * warning on stderr that the option went; or TOOL_USAGE after a message there. */
int tool_set_option(struct tool_args *args, struct nuioa_options *options);

/* Prints the usage of a command and the options of a plan. Returns the exit status. */
int tool_print_options(const char *usage);

#endif
