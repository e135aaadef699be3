/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_ETHERNET_H
#define NUIOA_DOCTOR_ETHERNET_H

/* Checks of `nuioa doctor`: links of Ethernet. doctor.h says what holds
 * for all checks. */

struct doctor;

/* Reports Ethernet ports that run at a lower rate than their card supports. */
void doctor_check_modes(struct doctor *d);

#endif
