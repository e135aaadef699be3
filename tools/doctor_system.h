/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_SYSTEM_H
#define NUIOA_DOCTOR_SYSTEM_H

/* Checks. Processors, kernel, firmware. */

struct doctor;

void doctor_check_discovery(struct doctor *d);
void doctor_check_governor(struct doctor *d);
void doctor_check_balancing(struct doctor *d);
void doctor_check_firmware(struct doctor *d);
void doctor_check_slit(struct doctor *d);

#endif
