/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_COUNTERS_H
#define NUIOA_TOPOLOGY_NIC_COUNTERS_H

#include <stdint.h>

#include "topology/node.h"
#include "util/sysfs.h"

/* How much a NIC has carried, by the counters of its driver in sysfs, which anybody may read. They
 * count for the whole machine: all jobs, and the file systems that the NIC reaches. */

/* A counter that is not known. */
#define NUIOA_NO_COUNTER UINT64_MAX

/* The struct says what a NIC has carried: since it came up, or between two moments. */
struct nuioa_nic_counters {
    uint64_t received, sent; /* bytes */
    uint64_t received_packets;
};

/* Reads the counters of a NIC, of the first source that has the two of bytes: those of the verbs
 * port, in units of 4 bytes; its hw_counters, by the names that drivers give them; Slingshot's
 * telemetry; for Ethernet without RDMA, and for the RDMA that the kernel makes on a plain NIC, the
 * statistics of the network interface. These do not see RDMA that a card does. A counter that
 * cannot be read is NUIOA_NO_COUNTER, and so is one of 32 bits that stands at its end. Returns 0;
 * or -ENOENT if there is no such source, and no counter is known. A file of broken hardware may
 * hang. */
int nuioa_nic_counters_read(const struct nuioa_sysfs *sysfs, const struct nuioa_nic *nic,
                            struct nuioa_nic_counters *counters);

/* Reads the counters of all NICs of this machine, in a child process. Returns an array with an
 * element for each of node->nics (malloc'd, caller frees); NULL without memory or a process, or if
 * they have not come after `deadline_ms` milliseconds. */
struct nuioa_nic_counters *nuioa_nic_counters_read_all(const struct nuioa_node *node,
                                                       unsigned deadline_ms);

/* Returns true if both counters of bytes are known. */
bool nuioa_nic_counters_known(const struct nuioa_nic_counters *counters);

/* Sets *carried to what was carried between two readings. A counter that is not known in both is
 * not known there, and one that fell, because somebody has reset it, is not either. */
void nuioa_nic_counters_between(const struct nuioa_nic_counters *before,
                                const struct nuioa_nic_counters *after,
                                struct nuioa_nic_counters *carried);

/* Reads one counter as the kernel writes it: a decimal number, which may be followed by a blank, or
 * by '@' and a time. Returns NUIOA_NO_COUNTER for any other text. */
uint64_t nuioa_nic_counter_parse(const char *text);

#endif
