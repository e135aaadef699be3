/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_PRINT_H
#define NUIOA_DOCTOR_PRINT_H

#include "tools/doctor.h"

/* Return "problem", "advice" or "unknown"; "compute", "login" or "other". */
const char *doctor_severity_name(enum doctor_severity severity);
const char *doctor_role_name(enum doctor_role role);

/* Print the findings, the worst first: for people, as JSON, in one line for monitoring. Return
 * `status`, or TOOL_UNANSWERED if there was no memory. */
int doctor_print_text(const struct doctor *d, int status);
int doctor_print_json(const struct doctor *d, int status);
int doctor_print_line(const struct doctor *d, int status);

#endif
