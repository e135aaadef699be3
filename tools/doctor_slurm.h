/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_SLURM_H
#define NUIOA_DOCTOR_SLURM_H

/* Checks. The line of the plugin in plugstack.conf, and settings of Slurm that work against it. */

struct doctor;

void doctor_check_plugin(struct doctor *d);
void doctor_check_arguments(struct doctor *d);
void doctor_check_task_plugin(struct doctor *d);
void doctor_check_constraint(struct doctor *d);
void doctor_check_cpu_bind(struct doctor *d);
void doctor_check_distribution(struct doctor *d);
void doctor_check_backlog(struct doctor *d);

#endif
