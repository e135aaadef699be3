/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_ETHERNET_H
#define NUIOA_DOCTOR_ETHERNET_H

/* Checks of `nuioa doctor`: settings that count if the fabric is Ethernet. doctor.h says what holds
 * for all checks. */

struct doctor;

/* Reports Ethernet ports that run at a lower rate than their card supports. */
void doctor_check_modes(struct doctor *d);

/* Reports Ethernet ports whose interrupts wait long for more packets. */
void doctor_check_coalescing(struct doctor *d);

/* Reports limits of TCP buffers that are too small for the rate of the NIC. */
void doctor_check_tcp(struct doctor *d);

#endif
