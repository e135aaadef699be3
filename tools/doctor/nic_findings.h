/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_NIC_H
#define NUIOA_DOCTOR_NIC_H

#include "tools/doctor/doctor.h"

/* Checks of NICs: where they are, what they are connected with, and how far they are from NUMA
 * nodes. doctor.h says what holds for all checks. They report: */

/* a machine that hwloc could not describe */
void doctor_check_discovery(struct doctor *d);
/* a node without NICs, cards of a fabric that have no port, and a nic= that takes no NIC or has
 * names of which there is none */
void doctor_check_missing(struct doctor *d);
/* NUMA nodes that cut through cores, NICs whose NUMA node is unknown, or told in two ways */
void doctor_check_locality(struct doctor *d);
/* NICs that may be for something else than MPI, in one finding, where it matters */
void doctor_check_roles(struct doctor *d);
/* InfiniBand ports, more than two or beside GPUs, of which nobody says whether they are one
 * network, so that export=auto sets nothing; unless the site's export= has no auto */
void doctor_check_exports(struct doctor *d);
/* ports that are down; of Ethernet only those that somebody has set up, that nic= names, or whose
 * like are of the fabric, unless no port of a compute node is up */
void doctor_check_ports(struct doctor *d);
/* ports with fewer lanes than four, or a lower rate than others of the same model */
void doctor_check_rates(struct doctor *d);
/* a firmware's distance table (SLIT) that is unsound, or, with more than two NUMA nodes, is missing
 * or says the same for all */
void doctor_check_slit(struct doctor *d);
/* rates in the site's file that contradict the distances: a NIC is faster, beyond noise, with a
 * NUMA node that is said to be farther */
void doctor_check_measured(struct doctor *d);

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
