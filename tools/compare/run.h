/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_COMPARE_RUN_H
#define NUIOA_TOOL_COMPARE_RUN_H

#include <regex.h>
#include <stdbool.h>

#include "util/error.h"

/* One run of the program that is compared. What it prints is kept in files; a run that is
 * interrupted is ended with all that it has started in its process group. */

enum { RUN_VARIABLES_MAX = 19 };

/* One side of the comparison: variables that are set for its runs, "NAME=VALUE". The texts are the
 * caller's. */
struct run_side {
    const char *name; /* "without" or "with" */
    const char *variables[RUN_VARIABLES_MAX];
    unsigned variable_count;
};

/* What all runs have in common. */
struct run_plan {
    char **program;      /* srun and its arguments, ended with NULL */
    const char *before;  /* a command for sh before each run, or NULL */
    const regex_t *time; /* finds the time in what the run prints; NULL: the time is the clock's */
    const char *directory; /* for the files of each run: NAME.out, NAME.err */
};

/* From now on SIGINT, SIGTERM and SIGHUP wait until run_once takes them. */
void run_begin(void);

/* Runs plan->before, and then the program once, with the variables of `side`; the files are
 * `directory`/`name`.before.out and .err, and `directory`/`name`.out and .err, which must not be
 * there yet, and the standard input is empty. Returns 0 and sets *seconds, above 0; -EINTR if a
 * signal came, after what ran was ended; or another negative errno with *err, if it could not be
 * started, did not end with status 0, or printed no time. */
int run_once(const struct run_plan *plan, const struct run_side *side, const char *name,
             double *seconds, struct nuioa_error *err);

/* Copies the first line that begins with `begin`, such as "nuioa: ", in the kept standard error of
 * a run to `line`, an array of `size` bytes, without its newline, and cut if it is longer. Returns
 * whether there is one. */
bool run_said(const struct run_plan *plan, const char *name, const char *begin, char *line,
              unsigned size);

#endif
