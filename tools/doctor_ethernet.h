/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_ETHERNET_H
#define NUIOA_DOCTOR_ETHERNET_H

/* Checks. Settings that count if the fabric is Ethernet. */

struct doctor;

void doctor_check_modes(struct doctor *d);
void doctor_check_coalescing(struct doctor *d);
void doctor_check_tcp(struct doctor *d);

#endif
