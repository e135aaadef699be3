/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_PRINT_H
#define NUIOA_DOCTOR_PRINT_H

#include "tools/doctor/doctor.h"

/* Prints the findings to stdout. `status` is the exit status (tool.h) that they make; all of these
 * functions return it, or another one if they fail. */

/* Prints for people: the node, the worst finding first, with why each matters and what to do, and
 * at the end what to do first. */
int doctor_print_text(const struct doctor *d, int status);

/* Prints JSON (doc/formats.md), in the order of the checks. Returns TOOL_USAGE after a message on
 * stderr if memory is short. */
int doctor_print_json(const struct doctor *d, int status);

/* Prints one line for monitoring: the numbers, and the problems and advice by their ids, the worst
 * first. */
int doctor_print_line(const struct doctor *d, int status);

#endif
