/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_COMPARE_RESULT_H
#define NUIOA_TOOL_COMPARE_RESULT_H

#include <stdbool.h>

#include "tools/compare/run.h"
#include "tools/compare/verdict.h"

/* What the runs have given, and how it is printed. */
struct result {
    double without[VERDICT_PAIRS_MAX], with[VERDICT_PAIRS_MAX]; /* seconds */
    unsigned pairs;
    bool typed;  /* the number of pairs was */
    bool judged; /* `verdict` is that of these pairs; else they were interrupted */
    struct verdict verdict;
    unsigned variables; /* that are compared; 0: nuioa is */
    const char *variable[RUN_VARIABLES_MAX];
    char report[160]; /* the head of nuioa's report, if nuioa is compared */
    const char *directory;
};

/* Writes a time with three digits to `text`, which it returns. */
const char *result_seconds(double seconds, char text[32]);

/* Print to stdout, as text or as JSON with the keys of doc/formats.md. Return the exit status. */
int result_print(const struct result *result);
int result_print_json(const struct result *result);

#endif
