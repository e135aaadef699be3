/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_RANKS_ASSIGNMENT_H
#define NUIOA_RANKS_ASSIGNMENT_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topology/pci_path.h"

/* The assignment of one rank: its CPUs, memory, NIC and OMP places. A plan (plan/plan.h) has one
 * for each rank of the node, and owns all that an assignment points to.
 *
 * Words: a local rank is the index of a rank on its node, from 0; an OS index is the kernel's
 * number of a CPU or of a NUMA node. A level is a distance from a NIC: 0 is the NIC's own NUMA
 * node, and each further level is a group of NUMA nodes that are about equally far
 * (topology/numa_distance.h). */

/* The memory policy of a process: the kernel's default; set_mempolicy(2) with MPOL_PREFERRED or
 * MPOL_INTERLEAVE; or the one that it has, because the user gave it, by --mem-bind for instance. */
enum nuioa_memory {
    NUIOA_MEMORY_DEFAULT,
    NUIOA_MEMORY_PREFERRED,
    NUIOA_MEMORY_INTERLEAVE,
    NUIOA_MEMORY_KEPT
};

/* The NICs that the ranks of a node may use. */
struct nuioa_usable {
    uint32_t count;
    uint32_t *nics; /* [count]: indexes into node->nics, in PCI order; NULL: only their number is
                       known */
    bool connected; /* each of them surely reaches the others' network, or the user says so; not if
                       they are guessed */
    bool guessed;   /* a guess of what NICs are for (topology/nic_guess.h) has chosen them, or among
                       those that are nearest to a GPU */
    bool doubted;   /* some are doubted: that decides among equals for ranks without GPUs */
};

/* The level where nobody knows it. */
#define NUIOA_NO_LEVEL UINT32_MAX

/* Two terms of the cost J (mapping/problem.h): traffic to the NIC, and traffic to other ranks of
 * the node. The unit is that of the traffic, because prices are pure numbers. */
struct nuioa_split {
    double nic, neighbours;
};

/* The term of J for the load of the NICs (slots/rail_load.h). */
struct nuioa_load_term {
    /* the load of the most loaded card against an even share, >= 1; 0: no such term */
    double ratio;
    double cost; /* in the unit of J */
};

/* How many partners of a rank are remembered. */
#define NUIOA_PARTNERS_MAX 3

/* The part of one rank in these terms. Each rank of a pair has half of the pair's cost, so that the
 * sum over all ranks is J without the load of the NICs. */
struct nuioa_rank_costs {
    /* from the nearest NIC, where CPUs follow GPUs that of the GPU, to the CPUs that Slurm gave;
     * NUIOA_NO_LEVEL if unknown */
    uint32_t level_before;
    uint32_t gpu_level_before;        /* as `gpu_level`, of the CPUs that Slurm gave */
    uint32_t heavier;                 /* how many ranks of the node have more weight */
    struct nuioa_split before, after; /* with the CPUs that Slurm gave; with `cpus` */
    double local;                     /* traffic with ranks of the node, in the unit of the pairs */
    double beside; /* the part of `local` with ranks on exactly the same NUMA nodes */
    uint32_t partner_count;
    uint32_t partners[NUIOA_PARTNERS_MAX]; /* local ranks with most traffic, in descending order */
    double partner_bytes[NUIOA_PARTNERS_MAX]; /* that traffic, to put them in order */
    int32_t gave_way; /* the local rank that has some of this rank's former CPUs, or -1 */
};

struct nuioa_assignment {
    uint32_t rank;       /* global rank */
    double weight;       /* traffic with other nodes, as in struct nuioa_task */
    bool moved;          /* `cpus` differs from what Slurm gave */
    hwloc_bitmap_t cpus; /* OS indexes */
    hwloc_bitmap_t was;  /* OS indexes of the CPUs that Slurm gave */
    struct nuioa_rank_costs costs;
    hwloc_bitmap_t numas; /* OS indexes of the NUMA nodes of `cpus` */
    int32_t nic;          /* index into node->nics, or -1; the first of `nics` */
    uint32_t nic_count;   /* 0 if `nic` is -1 */
    uint32_t *nics;       /* [nic_count]: indexes into node->nics, the best one first */
    bool gpus_known;      /* `gpus` are all that it has; else it is unknown which ones it has */
    uint32_t gpu_count;   /* 0 if they are unknown */
    uint32_t *gpus;       /* [gpu_count]: indexes into node->gpus, as in struct nuioa_task */
    uint32_t gpu_level;   /* from its farthest GPU to its farthest CPUs; NUIOA_NO_LEVEL: unknown, or
                             it has no GPU */
    uint32_t seen_count;  /* 0 unless it sees GPUs of which it is unknown which it has */
    uint32_t *seen;       /* [seen_count]: those, as indexes into node->gpus */
    uint32_t near_count;  /* 0 unless the rank sees GPUs of which it is unknown which it has */
    uint32_t *near; /* [near_count]: indexes into node->nics: the nearest ones of those GPUs */
    enum nuioa_path path; /* the longest of those from its GPUs to the nearest of `nics` */
    uint32_t level;       /* distance level from `nic` to `cpus`; NUIOA_NO_LEVEL if unknown */
    enum nuioa_memory memory;
    hwloc_bitmap_t memory_numas; /* OS indexes; empty for NUIOA_MEMORY_DEFAULT and _KEPT */
    /* One OMP place for each core of `cpus`, the core nearest the NIC first; 0: none. */
    uint32_t place_count;
    hwloc_bitmap_t *places; /* [place_count]: OS indexes */
};

/* Writes the memory policy to `text`, an array of `size` bytes: "preferred:1", "interleave:0-1",
 * "default" or "kept". What does not fit is cut. Returns `text`. */
const char *nuioa_memory_text(const struct nuioa_assignment *assignment, char *text, size_t size);

/* Writes the OMP places to `text`, an array of `size` bytes, in the form of OMP_PLACES: "{2},{3}".
 * Returns `text`; or NULL if there are none or if they do not fit, and `text` is then undefined. */
const char *nuioa_places_text(const struct nuioa_assignment *assignment, char *text, size_t size);

/* Write the labels of the NICs of an assignment ("mlx5_0:1,mlx5_1:1"), or the PCI addresses of its
 * GPUs ("0000:1b:00.0"), with commas, to `text`, an array of `size` bytes. `node` is the one of the
 * plan. They return `text`; or NULL if there are none or if they do not fit, and `text` is then
 * undefined. */
const char *nuioa_nics_text(const struct nuioa_assignment *assignment,
                            const struct nuioa_node *node, char *text, size_t size);
const char *nuioa_gpus_text(const struct nuioa_assignment *assignment,
                            const struct nuioa_node *node, char *text, size_t size);

/* Writes which NICs are nearest to each of gpus[count], indexes into node->gpus, to `text`, an
 * array of `size` bytes: "0000:1b:00.0=mlx5_0:1+mlx5_1:1;0000:2a:00.0=mlx5_2:1". It is for a
 * process that sees them, and chooses by itself. The NICs are those that ranks may use, to which
 * the GPU has the shortest path (topology/pci_path.h) or, if no path is known, which share a NUMA
 * node with it. Where several GPUs have the same nearest NICs, each begins with another one. A GPU
 * of which nothing is known is left out. Returns `text`; or NULL if there are none, if they do not
 * fit, or if memory is short, and `text` is then undefined. */
const char *nuioa_gpu_nics_text(const struct nuioa_usable *usable, const struct nuioa_node *node,
                                const uint32_t *gpus, uint32_t count, char *text, size_t size);

/* Sets the path of an assignment from its NICs and its GPUs. */
void nuioa_assignment_find_path(struct nuioa_assignment *assignment, const struct nuioa_node *node);

#endif
