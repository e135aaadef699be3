/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NODE_H
#define NUIOA_TOPOLOGY_NODE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "topology/distance.h"
#include "topology/nic.h"
#include "util/error.h"

/* What one machine is: processing units, NUMA nodes, distances, NICs, GPUs. Immutable once loaded,
 * but for the live state of the NICs (nuioa_node_refresh). The whole machine is described, whatever
 * part of it the caller may use: under a restricted cpuset hwloc drops the NIC's NUMA node and
 * shrinks the distance matrix, so a node is loaded with everything and `allowed_*` says what may be
 * used. */

/* A processing unit (hardware thread). Ids count from 0 in hwloc's logical order, over the
 * machine. */
struct nuioa_pu {
    uint32_t os_index;
    uint32_t core;
    uint32_t l2;      /* equal for PUs that share a level 2 cache; = core where none is known */
    uint32_t l3;      /* equal for PUs that share a level 3 cache; = package where none is known */
    uint32_t package; /* 0 where no package is known; no OS index */
    int32_t numa;     /* index into numas[] of the memory bank that is its own; -1 if it has none */
};

struct nuioa_numa {
    uint32_t os_index;
    int32_t package;       /* OS index of the package that holds it; -1: none or several */
    uint64_t memory_bytes; /* 0: none or unknown */
    hwloc_bitmap_t cpus;   /* OS indexes of the local PUs; empty for memory without CPUs */
};

/* A GPU, for NICs that are chosen by it. In PCI order, which is the order of the vendor's own
 * indexes. */
struct nuioa_gpu {
    char pci[16];
    hwloc_bitmap_t numas; /* OS indexes of the local NUMA nodes; empty: unknown */
    hwloc_bitmap_t cpus;  /* OS indexes of the local PUs; empty: unknown */
};

struct nuioa_node {
    char host[64];
    char model[128]; /* processor model, "" if unknown; part of the key of a site's distance file */
    bool emulated;   /* read from a file: describes another machine, nothing may be bound */
    uint32_t package_count;
    uint32_t core_count;
    uint32_t pu_count;
    uint32_t numa_count;
    uint32_t nic_count;
    uint32_t gpu_count;
    struct nuioa_pu *pus;     /* hwloc logical order, so the PUs of a core are neighbours */
    struct nuioa_numa *numas; /* hwloc logical order */
    struct nuioa_nic *nics;   /* PCI order, then name, then port */
    struct nuioa_gpu *gpus;
    hwloc_bitmap_t allowed_cpus;  /* OS indexes; of the process that loaded, or as the file says */
    hwloc_bitmap_t allowed_numas; /* OS indexes */
    struct nuioa_distance distance;
    struct nuioa_warnings warnings; /* what a sysadmin should know about this node's description */
};

/* Releases everything and leaves *node empty. Fine on an empty one. */
void nuioa_node_free(struct nuioa_node *node);

/* Index into pus[] of the PU with this OS index, or -1. Into numas[] likewise. */
int nuioa_node_pu(const struct nuioa_node *node, unsigned os_index);
int nuioa_node_numa(const struct nuioa_node *node, unsigned os_index);

/* OS indexes of the NUMA nodes that the CPUs of `cpus` belong to. `numas` is overwritten. */
void nuioa_node_numas_of(const struct nuioa_node *node, hwloc_const_bitmap_t cpus,
                         hwloc_bitmap_t numas);

#endif
