/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_PRINT_H
#define NUIOA_DOCTOR_PRINT_H

#include "tools/doctor/doctor.h"

/* Returns "problem", "advice" or "unknown": a constant text. */
const char *doctor_severity_name(enum doctor_severity severity);

/* Returns "compute", "login" or "other" for one role: a constant text. */
const char *doctor_role_name(enum doctor_role role);

/* The functions below print the findings to stdout. `status` is the exit status (tool.h) that the
 * findings make; they return it, or another one if they fail. */

/* Prints for people, the worst finding first, with why each matters and what to do. Returns
 * `status`. */
int doctor_print_text(const struct doctor *d, int status);

/* Prints JSON (doc/formats.md), in the order of the checks. Returns `status`, or TOOL_USAGE after a
 * message on stderr if memory is short. */
int doctor_print_json(const struct doctor *d, int status);

/* Prints one line for monitoring: the numbers, and the problems and advice by their ids, the worst
 * first. Returns `status`. */
int doctor_print_line(const struct doctor *d, int status);

#endif
