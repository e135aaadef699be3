/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_NIC_H
#define NUIOA_DOCTOR_NIC_H

#include "tools/doctor/doctor.h"

/* Checks of `nuioa doctor`: where NICs are, and what they are connected with. doctor.h says what
 * holds for all checks. */

/* Reports NICs whose NUMA node is unknown, or where two sources differ in it, and NUMA nodes that cut
 * through cores, where no place is known. */
void doctor_check_locality(struct doctor *d);

/* Reports cards of a fabric that have no port, and names in nic= of which there is no NIC. */
void doctor_check_missing(struct doctor *d);

/* Reports NICs that may be for something else than MPI, in one finding, where such a guess decides
 * or ranks may use one of them. */
void doctor_check_roles(struct doctor *d);

/* Reports ports that are down; of Ethernet only those that somebody has set up, that nic= names, or
 * whose like are of the fabric, unless no port of a compute node is up. */
void doctor_check_ports(struct doctor *d);

/* Reports ports that are slower than they could be: fewer lanes, or a lower rate than others of the
 * same model. */
void doctor_check_rates(struct doctor *d);

/* Returns true if the NIC, one of d->node, carries messages of jobs: nic=auto takes it or, if
 * nic=auto takes none because all are slow, it is one of the fastest that are up. */
bool doctor_in_fabric(const struct doctor *d, const struct nuioa_nic *nic);

/* Returns true if the NIC is a device and not virtual, and of a kind that MPI uses. */
bool doctor_is_port(const struct nuioa_nic *nic);

/* Returns true if MPI libraries have something better than TCP for NICs of that kind. */
bool doctor_is_fast(enum nuioa_nic_kind kind);

/* Returns true if the PCI device is an adapter of InfiniBand or Omni-Path. */
bool doctor_is_fabric_card(const struct doctor *d, const char *pci);

/* Writes the usual name of the NIC, such as "mlx5_0", "mlx5_1:2" or "eth0", to `text`, an array of
 * `size` bytes (48 are enough; a longer text is cut). Returns `text`. */
const char *doctor_nic_name(const struct nuioa_nic *nic, char *text, size_t size);

#endif
