/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_H
#define NUIOA_TOPOLOGY_NIC_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "topology/policy.h"
#include "util/error.h"

struct nuioa_node;

/* The NICs (network interfaces) of a node, and which of them a plan uses. A NIC here is one
 * port. */

enum nuioa_nic_kind {
    NUIOA_NIC_OTHER,
    NUIOA_NIC_ETHERNET,
    NUIOA_NIC_EFA,
    NUIOA_NIC_SLINGSHOT,
    NUIOA_NIC_OMNIPATH,
    NUIOA_NIC_ROCE,
    NUIOA_NIC_INFINIBAND,
    NUIOA_NIC_KINDS
};

enum nuioa_nic_state { NUIOA_NIC_UNKNOWN, NUIOA_NIC_DOWN, NUIOA_NIC_ACTIVE };

enum nuioa_locality {
    NUIOA_LOCALITY_UNKNOWN,
    NUIOA_LOCALITY_HWLOC,    /* hwloc names the CPUs of the host bridge */
    NUIOA_LOCALITY_OVERRIDE, /* the user has set HWLOC_PCI_LOCALITY */
    NUIOA_LOCALITY_SYSFS,    /* the device has a numa_node, and hwloc knows nothing */
};

/* One network port, which the node (topology/node.h) owns with all it points to. A verbs device and
 * the network interface (netdev) of the same port are one entry. */
struct nuioa_nic {
    char name[32];   /* verbs device, or the netdev where there is none */
    char netdev[32]; /* "" if none */
    char pci[16];    /* "0000:41:00.0", "" if none (software devices) */
    char fabric[24]; /* subnet prefix of GID 0, InfiniBand only; "" if unknown */
    char subnet
        [56];      /* IP subnet of the netdev, "10.1.0.0/16", RoCE and Ethernet only; "" if unknown,
                        or not needed (topology/nic_subnet.h) */
    uint32_t port; /* verbs port, from 1; 0 where there is no verbs device */
    enum nuioa_nic_kind kind;
    enum nuioa_nic_state state;
    enum nuioa_locality locality;
    uint32_t rate_mbps; /* Mbit/s; 0: unknown */
    uint32_t card;      /* equal for the ports of one card (PCI device), which share its bus */
    bool is_virtual;    /* no hardware of its own (bridge, veth, Soft-RoCE, ...), a virtual function
                           of a card that is here too, or an Ethernet member of a bond */
    bool usable;        /* `nic=auto` takes it */
    char why[64];       /* why not; "" if usable */
    hwloc_bitmap_t numas; /* OS indexes; empty: unknown */
    hwloc_bitmap_t cpus;  /* OS indexes; empty: unknown */
    uint8_t *level; /* [node->numa_count]: the level (distance.h) of each entry of node->numas,
                             least over its own NUMA nodes; NULL if the locality is unknown */
};

/* The least rate of a NIC that `nic=auto` takes. For slower ones it is not worth moving ranks: the
 * effect begins above 1 GB/s (Moreaud, Goglin: "Impact of NUMA Effects on High-Speed Networking
 * with Multi-Opteron Machines", PDCS 2007, section 4.2). */
#define NUIOA_NIC_MIN_RATE_MBPS 8000

/* Sets `usable` and `why` of every NIC of the node: `nic=auto` takes the fastest fabric that is up.
 * The choice has four steps. Left out are virtual NICs, those of kind other, and those known to be
 * down or to be slower than NUIOA_NIC_MIN_RATE_MBPS. Of the rest the fastest remain: rates that
 * differ by at most a tenth are equal, and an unknown rate is the lowest. Of these the best kind
 * remains, in the order InfiniBand, Omni-Path, Slingshot, EFA, RoCE, Ethernet. If they belong to
 * several fabrics (subnet prefixes), the fabric with most ports is taken; of several such the first
 * one in PCI order. It cannot fail. */
void nuioa_nic_judge(struct nuioa_node *node);

/* Finds the NICs that `pattern` takes. A pattern is "auto" or a list with commas of names (verbs
 * device, netdev, "mlx5_0:1", PCI address), globs and kinds; '^' before a word excludes what it
 * matches. If all words exclude, the result is what auto takes of the other NICs. With policy
 * latency, auto prefers networks that bypass the kernel to plain Ethernet, whatever their rates. A
 * NIC that is named is taken even if auto would not take it, unless it is known to be down. A glob
 * or a kind does not match virtual NICs.
 *
 * Sets taken[i] to true or false for each of the node->nic_count NICs; the caller allocates
 * taken[]. A name that matches nothing, and that of a NIC that is down, is added to `warnings`.
 * Returns how many are taken (0 is no error); or, with *err, -EINVAL if the pattern is malformed,
 * or -ENOMEM, and taken[] is all false. */
int nuioa_nic_select(const struct nuioa_node *node, const char *pattern, enum nuioa_policy policy,
                     bool *taken, struct nuioa_warnings *warnings, struct nuioa_error *err);

/* Checks the form of a pattern for nuioa_nic_select, without a node. Returns 0, or -EINVAL with
 * *err. */
int nuioa_nic_check(const char *pattern, struct nuioa_error *err);

/* Returns true if NIC `a` is better than NIC `b`: the faster one, or of equally fast ones the
 * better kind. With policy latency, any network that bypasses the kernel is better than plain
 * Ethernet, because a message through the kernel takes about ten times as long. */
bool nuioa_nic_prefer(const struct nuioa_nic *a, const struct nuioa_nic *b,
                      enum nuioa_policy policy);

/* Writes the label of a NIC to `text`, an array of `size` bytes: "mlx5_0:1", or "hsi0" if it has no
 * verbs device. 48 bytes are enough; a longer text is cut. Returns `text`. */
const char *nuioa_nic_label(const struct nuioa_nic *nic, char *text, size_t size);

/* Return words such as "infiniband", "active" and "hwloc", as in `nuioa topo --json`: constant
 * texts. */
const char *nuioa_nic_kind_name(enum nuioa_nic_kind kind);
const char *nuioa_nic_state_name(enum nuioa_nic_state state);
const char *nuioa_locality_name(enum nuioa_locality locality);

#endif
