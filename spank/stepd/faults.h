/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_FAULTS_H
#define SPANK_STEPD_FAULTS_H

#include "spank/stepd/stepd_context.h"

/* Prints the first of the faults in context->faults for the user, as a line that begins with the
 * name of this node. The line says how many more there are; these go to slurmd.log only. Then the
 * list is empty. */
void faults_print(struct stepd_context *context);

#endif
