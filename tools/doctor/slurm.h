/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_SLURM_H
#define NUIOA_DOCTOR_SLURM_H

struct doctor;

/* Checks of the plugin's line in plugstack.conf, and of Slurm's settings. doctor.h says what holds
 * for all checks. They report: */

/* files that cannot be read, and a line that is missing, twice there, wrong or "required" */
void doctor_check_plugin(struct doctor *d);
/* arguments of the plugin that it refuses or that went, a file of hints that cannot be read, and
 * `topology`, with which nothing is bound */
void doctor_check_arguments(struct doctor *d);
/* no task plugin that binds ranks, or, where jobs share nodes, none that confines them */
void doctor_check_task_plugin(struct doctor *d);
/* with default=on, that Slurm binds no ranks by default, on all nodes or on some */
void doctor_check_cpu_bind(struct doctor *d);

#endif
