/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_SLURM_H
#define NUIOA_DOCTOR_SLURM_H

/* Checks of `nuioa doctor`: the line of the plugin in plugstack.conf, and settings of Slurm that
 * work against it. doctor.h says what holds for all checks. */

struct doctor;

/* Reports if slurm.conf or plugstack.conf cannot be read, or if the line of the plugin is missing,
 * twice there, wrong or "required". */
void doctor_check_plugin(struct doctor *d);

/* Reports arguments of the plugin that it refuses, and `topology`, with which nothing is bound. */
void doctor_check_arguments(struct doctor *d);

/* Reports if no task plugin binds ranks or confines them to their step. */
void doctor_check_task_plugin(struct doctor *d);

/* Reports if no cgroup keeps ranks inside the CPUs of their step, where jobs share nodes. */
void doctor_check_constraint(struct doctor *d);

/* Reports, with default=on, that Slurm binds no ranks by default, on all nodes or on some. */
void doctor_check_cpu_bind(struct doctor *d);

#endif
