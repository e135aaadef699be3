/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_PORT_H
#define NUIOA_TOPOLOGY_NIC_PORT_H

#include "topology/nic.h"
#include "util/sysfs.h"

/* State and rate of a port, from its verbs device or else its netdev. False: no such device. */
bool nuioa_nic_read_port(const struct nuioa_sysfs *sysfs, struct nuioa_nic *nic);

#endif
