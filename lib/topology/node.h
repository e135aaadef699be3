/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NODE_H
#define NUIOA_TOPOLOGY_NODE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "topology/numa_distance.h"
#include "topology/nic.h"
#include "util/error.h"

/* The description of one machine, a node: its PUs (processing units), NUMA nodes, distances, NICs
 * and GPUs. After it is loaded only NICs change: state and rate (nuioa_node_refresh), roles
 * (topology/nic_role.h), subnets (topology/nic_subnet.h), and which are usable.
 *
 * The whole machine is described, even if the caller may use only a part: with a restricted cpuset
 * hwloc leaves out the NUMA node of the NIC and shrinks the distance matrix. `allowed_cpus` and
 * `allowed_numas` are what may be used. */

/* A processing unit (hardware thread). Cores, caches and packages have numbers from 0 in hwloc's
 * logical order, counted over the whole machine. */
struct nuioa_pu {
    uint32_t os_index;
    uint32_t core;
    uint32_t l2;      /* equal for PUs that share a level 2 cache, or a core where none is known */
    uint32_t l3;      /* the same of a level 3 cache, or a package */
    uint32_t package; /* 0 where no package is known; no OS index */
    int32_t numa;     /* index into numas[] of its local NUMA node; -1 if it has none */
};

/* A NUMA node: memory, and its PUs. HBM, CXL and memory of GPUs have none, whatever PUs are near
 * them. An OS index is the kernel's number. */
struct nuioa_numa {
    uint32_t os_index;
    int32_t package;       /* OS index of the package that holds it; -1: none or several */
    uint64_t memory_bytes; /* 0: none or unknown */
    hwloc_bitmap_t cpus;   /* OS indexes of its PUs; empty for memory without CPUs */
};

enum nuioa_gpu_vendor {
    NUIOA_GPU_OTHER,
    NUIOA_GPU_NVIDIA,
    NUIOA_GPU_AMD,
    NUIOA_GPU_INTEL,
    NUIOA_GPU_VENDORS
};

/* A GPU. NICs can be chosen by the GPUs near them. */
struct nuioa_gpu {
    char pci[16]; /* address, such as "0000:41:00.0" */
    enum nuioa_gpu_vendor vendor;
    uint32_t model;       /* PCI vendor and device: 0x10de2330; 0: unknown, or the vendor has a
                             display adapter here that is counted where GPUs have numbers */
    hwloc_bitmap_t numas; /* OS indexes of the local NUMA nodes; empty: unknown */
    hwloc_bitmap_t cpus;  /* OS indexes of the local PUs; empty: unknown */
};

/* It owns all arrays and sets. A node that is all zeros is empty. */
struct nuioa_node {
    char host[64];   /* name of the machine; "" if unknown */
    char model[128]; /* processor model, "" if unknown; part of the key of a site's distance file */
    bool emulated;   /* read from a file: describes another machine, nothing may be bound */
    bool cut; /* NUMA nodes cut through cores or packages: no description of NUMA nodes is right */
    uint32_t package_count;
    uint32_t core_count;
    uint32_t pu_count;
    uint32_t numa_count;
    uint32_t nic_count;
    uint32_t gpu_count;
    struct nuioa_pu *pus; /* [pu_count], in hwloc's logical order: a core's PUs are neighbours */
    struct nuioa_numa *numas; /* [numa_count], in hwloc's logical order */
    struct nuioa_nic *nics;   /* [nic_count], in PCI order, then by name, then by port */
    struct nuioa_gpu *gpus;   /* [gpu_count], in PCI order */
    uint8_t *paths; /* [gpu_count * nic_count]: enum nuioa_path (pci_path.h); NULL: unknown */
    hwloc_bitmap_t allowed_cpus;  /* OS indexes; of the process that loaded, or as the file says */
    hwloc_bitmap_t allowed_numas; /* OS indexes */
    struct nuioa_distance distance;
    struct nuioa_warnings warnings; /* what a sysadmin should know about this node's description */
    uint32_t refusals; /* a bit for each of these: it says why a file that was named is not used */
};

/* Adds a warning to *node that says why a file which somebody named is not used. Where the list of
 * warnings is full, it only counts there, and `refusals` does not change. */
void nuioa_node_refuse(struct nuioa_node *node, const char *text);

/* Returns why the distance file that was named for this node is not used, a text that the node
 * owns; NULL if it is used, or none was named. */
const char *nuioa_node_distances_unused(const struct nuioa_node *node);

/* Frees all that *node owns, but not `node` itself, and makes it empty. It may be empty already. */
void nuioa_node_free(struct nuioa_node *node);

/* Return the index into pus[] or numas[] of the PU or NUMA node with this OS index, or -1
 * if there is none. */
int nuioa_node_pu(const struct nuioa_node *node, unsigned os_index);
int nuioa_node_numa(const struct nuioa_node *node, unsigned os_index);

/* Returns how many NUMA nodes have CPUs. */
uint32_t nuioa_node_numas_with_cpus(const struct nuioa_node *node);

/* Sets `numas`, the caller's set, to the NUMA nodes that are local to the CPUs of `cpus`. Both are
 * sets of OS indexes. CPUs that the node does not have, or without a NUMA node, add nothing. */
void nuioa_node_numas_of(const struct nuioa_node *node, hwloc_const_bitmap_t cpus,
                         hwloc_bitmap_t numas);

/* Returns "nvidia", "amd", "intel" or "other", a constant text. */
const char *nuioa_gpu_vendor_name(enum nuioa_gpu_vendor vendor);

#endif
