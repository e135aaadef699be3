/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_H
#define NUIOA_TOPOLOGY_NIC_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "topology/policy.h"
#include "util/error.h"

struct nuioa_node;

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
    NUIOA_LOCALITY_HWLOC,    /* the host bridge's CPUs, through hwloc */
    NUIOA_LOCALITY_OVERRIDE, /* HWLOC_PCI_LOCALITY */
    NUIOA_LOCALITY_SYSFS,    /* the device's own numa_node, where the bridge says nothing */
};

/* One network port. A verbs device and the netdev of the same port are one entry. */
struct nuioa_nic {
    char name[32];   /* verbs device, or the netdev where there is none */
    char netdev[32]; /* "" if none */
    char pci[16];    /* "0000:41:00.0", "" if none (software devices) */
    char fabric[24]; /* subnet prefix of GID 0, InfiniBand only; "" if unknown */
    uint32_t port;   /* verbs port, from 1; 0 where there is no verbs device */
    enum nuioa_nic_kind kind;
    enum nuioa_nic_state state;
    enum nuioa_locality locality;
    uint32_t rate_mbps; /* 0: unknown */
    uint32_t card;      /* equal for the ports of one card (PCI device), which share its bus */
    bool is_virtual;    /* no hardware of its own (bridge, veth, Soft-RoCE, ...), a virtual function
                           of a card that is here too, or an Ethernet member of a bond */
    bool usable;        /* `nic=auto` takes it */
    char why[64];       /* why not; "" if usable */
    hwloc_bitmap_t numas; /* OS indexes; empty: unknown */
    hwloc_bitmap_t cpus;  /* OS indexes; empty: unknown */
    uint8_t *level;       /* to each entry of node->numas: least over its own NUMA nodes;
                             NULL if the locality is unknown */
};

/* A link below this is not worth moving ranks for: the effect begins above 1 GB/s (Moreaud &
 * Goglin, PDCS 2007, 4.2). */
#define NUIOA_NIC_MIN_RATE_MBPS 8000

/* Sets usable and why of every NIC for `nic=auto`: the fastest fabric present that is up. Out are
 * virtual NICs, those known to be down or to be slower than NUIOA_NIC_MIN_RATE_MBPS, and kind
 * other. Of the rest the fastest count (rates within a tenth are equal, an unknown rate is less
 * than any), of those the best kind (InfiniBand, Omni-Path, Slingshot, EFA, RoCE, Ethernet), of
 * several fabrics of that kind (subnet prefixes) the one with most ports, then the first in PCI
 * order. */
void nuioa_nic_judge(struct nuioa_node *node);

/* Which NICs `pattern` takes: "auto", or a comma list of names (verbs device, netdev, "mlx5_0:1",
 * PCI address), globs and kinds, each with '^' to exclude. Only exclusions: what auto takes of the
 * others. With policy latency, auto puts networks that bypass the kernel before plain Ethernet,
 * whatever their rates. A NIC that is named is taken whatever auto thinks of it, unless it is known
 * to be down; a glob or a kind skips virtual ones. `taken` has node->nic_count entries. Returns the
 * number taken (0 is no error), or -EINVAL with *err set for a malformed pattern; a name that
 * matches nothing is a warning. */
int nuioa_nic_select(const struct nuioa_node *node, const char *pattern, enum nuioa_policy policy,
                     bool *taken, struct nuioa_warnings *warnings, struct nuioa_error *err);

/* Checks the form of a pattern alone, before any node is known: 0 or -EINVAL. */
int nuioa_nic_check(const char *pattern, struct nuioa_error *err);

/* Whether the fabric of NIC `a` is to be used rather than that of `b`: the faster, of equally fast
 * ones the better kind. For latency, anything rather than plain Ethernet first: a message through
 * the kernel takes about ten times as long. */
bool nuioa_nic_prefer(const struct nuioa_nic *a, const struct nuioa_nic *b,
                      enum nuioa_policy policy);

/* "mlx5_0:1", or "hsi0" where there is no verbs device. `text` is of the given size; returns it. */
const char *nuioa_nic_label(const struct nuioa_nic *nic, char *text, size_t size);

/* "infiniband", "active", "hwloc", ... as in `nuioa topo --json` */
const char *nuioa_nic_kind_name(enum nuioa_nic_kind kind);
const char *nuioa_nic_state_name(enum nuioa_nic_state state);
const char *nuioa_locality_name(enum nuioa_locality locality);

#endif
