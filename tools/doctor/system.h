/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_SYSTEM_H
#define NUIOA_DOCTOR_SYSTEM_H

/* Checks of `nuioa doctor`: NUMA nodes and their distances. doctor.h says what holds for all
 * checks. */

struct doctor;

/* Reports if hwloc could not describe this machine. */
void doctor_check_discovery(struct doctor *d);

/* Reports if the firmware's distance table (SLIT) is unsound, or, with more than two NUMA nodes, is
 * missing or says the same for all. */
void doctor_check_slit(struct doctor *d);

/* Reports each NIC of which the site's distance file has rates that contradict the distances: it
 * is faster with a NUMA node that is said to be farther, beyond noise. */
void doctor_check_measured(struct doctor *d);

#endif
