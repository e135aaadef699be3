/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_SUBNET_H
#define NUIOA_TOPOLOGY_NIC_SUBNET_H

#include <ifaddrs.h>

#include "topology/node.h"

/* Sets `subnet` of each NIC of kind roce or ethernet from the addresses of its netdev:
 * "10.1.0.0/16" for its first IPv4 address, else for its first IPv6 address; link-local addresses
 * do not count. It is "" if there is none, and for all other kinds. `addresses` is a list as from
 * getifaddrs(3), which stays the caller's; NULL: none. */
void nuioa_nic_subnets_set(struct nuioa_node *node, const struct ifaddrs *addresses);

/* Sets them from the addresses of this machine. The kernel is not asked if there are fewer than
 * two such NICs, because one alone needs no comparison, or if the node is another machine. It
 * cannot fail: what is not known is "". */
void nuioa_nic_subnets_read(struct nuioa_node *node);

/* Returns true if each of nics[count], indexes into node->nics, surely reaches the others'
 * network, so that a process may use any of them alone: there is one only; or they are of one
 * InfiniBand subnet, by a prefix that is not the default of subnet managers, which two subnets
 * may have; or of one IP subnet (RoCE, Ethernet); or of a network that is one by its nature: all
 * Slingshot NICs of a machine are on one fabric, and all EFA devices on the network of their
 * instance. */
bool nuioa_nics_are_connected(const struct nuioa_node *node, const uint32_t *nics, uint32_t count);

#endif
