/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_PORT_H
#define NUIOA_TOPOLOGY_NIC_PORT_H

#include "topology/nic.h"
#include "util/sysfs.h"

/* Reads the state and the rate of a port from sysfs, from its verbs device or, if it has none, from
 * its netdev (name and port of *nic say which). Sets nic->state and nic->rate_mbps (Mbit/s)
 * and nothing else. Returns false if the device does not exist; the state is then NUIOA_NIC_UNKNOWN
 * and the rate 0. `sysfs` stays the caller's. */
bool nuioa_nic_read_port(const struct nuioa_sysfs *sysfs, struct nuioa_nic *nic);

#endif
