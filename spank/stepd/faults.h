/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_FAULTS_H
#define SPANK_STEPD_FAULTS_H

#include <stddef.h>

#include "spank/stepd/step_run.h"

/* The faults of this node, context->faults: each is one line. */

/* Writes the line for the user into `line`, an array of `size` bytes: the name of this node, the
 * first fault, and how many more slurmd.log has; "" if there is none. */
void faults_line(const struct step_run *context, char *line, size_t size);

/* Prints that line, if this is one of the step's first eight nodes, and does what faults_log()
 * does. */
void faults_print(struct step_run *context);

/* Writes each fault to slurmd.log, and empties the list. */
void faults_log(struct step_run *context);

#endif
