/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_FAULTS_H
#define SPANK_STEPD_FAULTS_H

#include "spank/stepd/stepd_context.h"

/* Writes each fault in context->faults to slurmd.log, once. The user gets a line from srun for
 * those that srun prints (rendezvous_stepd_faults_told); of the others the first is printed here,
 * as a line that begins with the name of this node and says how many more there are. Then the list
 * is empty. */
void faults_print(struct stepd_context *context);

#endif
