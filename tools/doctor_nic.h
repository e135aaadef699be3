/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_NIC_H
#define NUIOA_DOCTOR_NIC_H

#include "tools/doctor.h"

/* Checks. Where NICs are, and what they are connected with. */

void doctor_check_locality(struct doctor *d);
void doctor_check_ports(struct doctor *d);
void doctor_check_rates(struct doctor *d);
void doctor_check_pcie(struct doctor *d);
void doctor_check_irqs(struct doctor *d);

/* Returns whether the NIC carries messages of jobs: whether nic=auto takes it or, if nic=auto takes
 * none because all are slow, whether it is one of the fastest that are up. */
bool doctor_in_fabric(const struct doctor *d, const struct nuioa_nic *nic);

/* Returns whether the NIC is a device and not virtual, and of a kind that MPI uses. */
bool doctor_is_port(const struct nuioa_nic *nic);

/* Returns whether MPI libraries have something better than TCP for NICs of that kind. */
bool doctor_is_fast(enum nuioa_nic_kind kind);

/* Writes the usual name of the NIC, such as "mlx5_0", "mlx5_1:2" or "eth0". Returns text. */
const char *doctor_nic_name(const struct nuioa_nic *nic, char *text, size_t size);

#endif
