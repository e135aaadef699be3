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

/* The role says what a NIC is for. MPI uses the compute ones; a NIC of which nobody says
 * anything is like these. */
enum nuioa_nic_role {
    NUIOA_ROLE_UNKNOWN,
    NUIOA_ROLE_COMPUTE,
    NUIOA_ROLE_STORAGE,
    NUIOA_ROLE_MANAGEMENT,
    NUIOA_ROLES
};

/* The source tells who says so. The word of the site, or of the user, decides
 * (topology/nic_role.h); a guess only orders (topology/nic_guess.h). */
enum nuioa_role_source { NUIOA_ROLE_BY_NOBODY, NUIOA_ROLE_BY_GUESS, NUIOA_ROLE_BY_SITE };

/* Bits: why a NIC may be for something else than MPI. */
enum {
    NUIOA_HINT_BLUEFIELD = 1 << 0, /* it is a BlueField, a NIC with processors of its own */
    NUIOA_HINT_FAR = 1 << 1,       /* it is beside no GPU, and each GPU has another beside it */
    NUIOA_HINT_RATE = 1 << 2,      /* its rate is unlike that of as many others as GPUs are */
    NUIOA_HINTS = (1 << 3) - 1,
};

enum nuioa_nic_state { NUIOA_NIC_UNKNOWN, NUIOA_NIC_DOWN, NUIOA_NIC_ACTIVE };

enum nuioa_locality {
    NUIOA_LOCALITY_UNKNOWN,
    NUIOA_LOCALITY_HWLOC,    /* hwloc names the CPUs of the host bridge */
    NUIOA_LOCALITY_OVERRIDE, /* the user has set HWLOC_PCI_LOCALITY */
    NUIOA_LOCALITY_SYSFS,    /* the device has a numa_node, and hwloc knows nothing */
};

/* This holds what `nuioa probe --nic` has measured between a NIC and a NUMA node, and what of it
 * is believed. */
struct nuioa_nic_measured {
    double write_mb_s; /* 10^6 bytes a second that the card writes into its memory; 0: unknown */
    double read_mb_s;  /* and reads from its memory; 0: unknown */
    double latency_ns; /* of a message of one of its cores; 0: unknown */
    double mad;        /* how medians spread: median absolute deviation over the median */
    uint32_t n;        /* how many values each median is of; 0: nothing was measured */
};

/* The largest value of a member. */
#define NUIOA_MEASURED_MAX 1e12

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
    char cxi[16];  /* device of a Slingshot card that libfabric opens, "cxi0"; "" if unknown */
    uint32_t port; /* verbs port, from 1; 0 where there is no verbs device */
    uint32_t sm_lid; /* local identifier of the subnet manager, InfiniBand only; 0: unknown */
    enum nuioa_nic_kind kind;
    enum nuioa_nic_state state;
    enum nuioa_locality locality;
    uint32_t rate_mbps; /* Mbit/s; 0: unknown */
    uint32_t card;      /* equal for the ports of one PCI device, which share its bus, and for the
                           halves of a Socket Direct card, which share its port */
    bool is_virtual;    /* no hardware of its own (bridge, veth, Soft-RoCE, ...), a virtual function
                           of a card that has a NIC here, or an Ethernet member of a bond */
    bool is_function;   /* a virtual function (SR-IOV), whether or not its card has a NIC here */
    uint32_t hints;     /* NUIOA_HINT_*: what discovery has found, whether or not it counts */
    uint32_t doubts;    /* NUIOA_HINT_*: what the guess of the role is from; 0: no guess */
    enum nuioa_nic_role role;
    enum nuioa_role_source role_source;
    bool usable;          /* `nic=auto` takes it */
    char why[64];         /* why not; "" if usable */
    hwloc_bitmap_t numas; /* OS indexes; empty: unknown */
    hwloc_bitmap_t cpus;  /* OS indexes; empty: unknown */
    uint8_t *level; /* [node->numa_count]: the level (distance.h) of each entry of node->numas,
                             least over its own NUMA nodes; NULL if the locality is unknown */
    struct nuioa_nic_measured
        *measured; /* [node->numa_count], as the site's distance file says; NULL
                                            if it says nothing of this NIC */
};

/* The least rate of a NIC that `nic=auto` takes. For slower ones it is not worth moving ranks: the
 * effect begins above 1 GB/s (Moreaud, Goglin: "Impact of NUMA Effects on High-Speed Networking
 * with Multi-Opteron Machines", PDCS 2007, section 4.2). */
#define NUIOA_NIC_MIN_RATE_MBPS 8000

/* Sets `usable` and `why` of every NIC of the node, and the guesses of roles anew: `nic=auto` takes
 * the fastest fabric that is up. The choice has five steps:
 *
 *   1. Left out are virtual NICs, NICs of kind other, NICs that the site calls storage or
 *      management, and NICs known to be down or slower than NUIOA_NIC_MIN_RATE_MBPS.
 *   2. On a node with GPUs a fabric is better if its NICs are not doubted, or if it is beside more
 *      GPUs: behind a switch or on the host bridge of a GPU, where no other NIC is nearer. It must
 *      be as fast as the other one in sum or, where rates are unknown, of as good a kind. Plain
 *      Ethernet never wins so against another network.
 *   3. The fastest remain. Rates that differ by at most a tenth are equal; unknown is lowest.
 *   4. The best kind remains: InfiniBand, Omni-Path, Slingshot, EFA, RoCE, Ethernet.
 *   5. Of several fabrics the one with most ports is taken; of equal ones the first in PCI order.
 *
 * Without memory only step 1 is made, and roles are not guessed. */
void nuioa_nic_judge(struct nuioa_node *node);

/* Finds the NICs that `pattern` takes. A pattern is a list with commas of "auto", names (verbs
 * device, netdev, "mlx5_0:1", PCI address), globs and kinds; '^' before a word excludes what it
 * matches. If all words exclude, the result is what auto takes of the other NICs. With policy
 * latency, auto prefers networks that bypass the kernel to plain Ethernet, whatever their rates. A
 * NIC that is named is taken even if auto would not take it, unless it is known to be down. A glob
 * or a kind takes no NIC that is down, is virtual, or is said to be for storage or management.
 *
 * Sets taken[i] to true or false for each of the node->nic_count NICs; the caller allocates
 * taken[]. A name that matches nothing, and that of a NIC that is down, is added to `warnings`,
 * which may be NULL. Returns how many are taken (0 is no error); or, with *err, -EINVAL if the
 * pattern is malformed, or -ENOMEM, and taken[] is all false. */
int nuioa_nic_select(const struct nuioa_node *node, const char *pattern, enum nuioa_policy policy,
                     bool *taken, struct nuioa_warnings *warnings, struct nuioa_error *err);

/* Returns true if the pattern (nuioa_nic_select) would take a NIC of the node if all ports were up;
 * false without memory. */
bool nuioa_nic_is_down(const struct nuioa_node *node, const char *pattern,
                       enum nuioa_policy policy);

/* Leaves in taken[node->nic_count] the NICs of one fabric: that of the best NIC that is taken,
 * in the order of nuioa_nic_judge. Rates within it may differ. Returns an index of this best
 * NIC, or -1 if none is taken. */
int32_t nuioa_nic_narrow(const struct nuioa_node *node, enum nuioa_policy policy, bool *taken);

/* Returns true if a guess has decided: if without it the two functions above leave other NICs than
 * these, taken[node->nic_count], or if one of these is as near to a GPU as the nearest of the
 * others and is doubted. Without memory, and if the pattern is malformed, only the second is looked
 * at. */
bool nuioa_nic_is_guessed(const struct nuioa_node *node, const char *pattern,
                          enum nuioa_policy policy, const bool *taken);

/* Returns true if `word` is the NIC's name, label, netdev, PCI address or kind, or matches one of
 * the first four as a glob. The word must have been checked (nuioa_nic_check). */
bool nuioa_nic_matches(const struct nuioa_nic *nic, const char *word);

/* Returns true if the two NICs may be of one fabric: they are of one kind, and `fabric` is the same
 * text. InfiniBand subnets differ by this prefix or, if both have the one that subnet managers have
 * by default, by the manager's local identifier where both are known. */
bool nuioa_nic_same_fabric(const struct nuioa_nic *a, const struct nuioa_nic *b);

/* Returns true if this is the subnet prefix that subnet managers have by default, as `fabric` is
 * written: two ports that have it need not be of one subnet. */
bool nuioa_nic_prefix_is_default(const char *fabric);

/* Checks the form of a pattern for nuioa_nic_select, without a node. Returns 0, or -EINVAL with
 * *err. */
int nuioa_nic_check(const char *pattern, struct nuioa_error *err);

/* Writes the label of a NIC to `text`, an array of `size` bytes: "mlx5_0:1", or "hsi0" if it has no
 * verbs device. 48 bytes are enough; a longer text is cut. Returns `text`. */
const char *nuioa_nic_label(const struct nuioa_nic *nic, char *text, size_t size);

/* Return words such as "infiniband", "active" and "hwloc", as in `nuioa topo --json`: constant
 * texts. */
const char *nuioa_nic_kind_name(enum nuioa_nic_kind kind);
const char *nuioa_nic_state_name(enum nuioa_nic_state state);
const char *nuioa_locality_name(enum nuioa_locality locality);

/* Return "compute", "storage" or "management", and "site" or "guess": constant texts; NULL if it is
 * not known. */
const char *nuioa_nic_role_name(enum nuioa_nic_role role);
const char *nuioa_role_source_name(enum nuioa_role_source source);

#endif
