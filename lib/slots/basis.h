/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_BASIS_H
#define NUIOA_SLOTS_BASIS_H

#include "nics/rails.h"
#include "ranks/request.h"

/* All decisions of one plan read these facts, and none changes them. Private to the library. */
struct nuioa_basis {
    const struct nuioa_request *request; /* the caller's */
    struct nuioa_arena *arena; /* of what is needed only while the plan is made; the caller's */
    struct nuioa_rails rails;
    hwloc_bitmap_t rank_cpus;           /* OS indexes of the CPUs that some rank has */
    hwloc_const_bitmap_t allowed_cpus;  /* OS indexes of the CPUs that the step may use */
    hwloc_const_bitmap_t allowed_numas; /* OS indexes of NUMA nodes whose memory the step may use */
    bool follows;                       /* CPUs follow GPUs (nics/gpu_distance.h) */
};

/* Fills *basis, finds the rails, and adds their warnings to `warnings`. `request` and `arena` must
 * outlive *basis. Returns 0; or with *err -ENOMEM, or -EINVAL if the `nic` option is malformed. In
 * every case the caller frees the rails. */
int nuioa_basis_init(struct nuioa_basis *basis, const struct nuioa_request *request,
                     struct nuioa_arena *arena, struct nuioa_warnings *warnings,
                     struct nuioa_error *err);

/* Returns the level (ranks/assignment.h) of `cpus` (OS indexes) from the NIC that the price of the
 * task with local rank `local` counts: where CPUs follow GPUs that of its GPU, else the nearest. */
uint32_t nuioa_nic_level(const struct nuioa_basis *basis, uint32_t local,
                         hwloc_const_bitmap_t cpus);

/* Returns that price: the cost of one unit of the task's traffic, as nuioa_rail_price says. */
double nuioa_nic_price(const struct nuioa_basis *basis, uint32_t local, hwloc_const_bitmap_t cpus);

/* Returns true if no NUMA node with CPUs that jobs may use is nearer a NIC than all of `cpus` (OS
 * indexes). */
bool nuioa_is_nearest(const struct nuioa_basis *basis, hwloc_const_bitmap_t cpus);

/* Returns true if all NUMA nodes of `cpus` (OS indexes) are equally far from each NIC. */
bool nuioa_all_as_far(const struct nuioa_basis *basis, hwloc_const_bitmap_t cpus);

/* Returns true if all CPUs of the node that jobs may use are equally near the only NIC. */
bool nuioa_nothing_nearer(const struct nuioa_basis *basis);

/* Returns true if Slurm bound no rank: if several ranks all have the same CPUs, or if a single rank
 * has all CPUs of the step. */
bool nuioa_unbound(const struct nuioa_basis *basis);

/* Returns true if the ranks are to divide the CPUs that they share: with cores=share if Slurm bound
 * no rank, or if masks of two ranks overlap; with cores=auto if Slurm bound no rank, the user asked
 * for placement, and the ranks see no GPU or CPUs follow GPUs. */
bool nuioa_shares(const struct nuioa_basis *basis);

#endif
