/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_NICS_NIC_TABLE_H
#define NUIOA_NICS_NIC_TABLE_H

#include "ranks/assignment.h"
#include "ranks/request.h"
#include "util/arena.h"

/* The NICs of each GPU of a node, for ranks whose GPUs are known only when they run: those that the
 * GPU would get if each GPU had a rank of its own, which may run on all CPUs of the step. */
struct nuioa_nic_table {
    struct nuioa_arena arena;      /* of all arrays; nuioa_arena_free frees the table */
    uint32_t gpu_count;            /* that of the node */
    struct nuioa_assignment *gpus; /* [gpu_count]: of each only `nics`, `nic_count` and `nic` */
    struct nuioa_usable usable;
};

/* Makes the table from the request's node, options and allowed_cpus, which must not be NULL; it
 * needs no tasks, and moves nobody. *table is overwritten. Returns 0, -EINVAL for a wrong `nic`
 * option, or -ENOMEM. The caller frees the arena in every case. */
int nuioa_nic_table_make(const struct nuioa_request *request, struct nuioa_nic_table *table);

#endif
