/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_GPU_MACHINE_H
#define TEST_GPU_MACHINE_H

#include "plan_case.h"

/* Machines with several GPUs and NICs, and a request for ranks on them. */

/* Where a GPU and a NIC are behind the same switch, their path is `within`; on the same NUMA node
 * it is NODE, else SYS. */
struct gpu_shape {
    const char *name;
    unsigned numas, gpus, nics, switches;
    enum nuioa_path within;
};

/* The shapes of machines that are sold. */
enum { GPU_SHAPES = 7 };
extern const struct gpu_shape gpu_shapes[GPU_SHAPES];

/* A case for such a machine, with 64 cores, and `tasks` ranks of one core; HGX H100 is the first
 * shape. plan_case_free frees it. */
struct plan_case *gpu_machine(const struct gpu_shape *g, unsigned tasks);
struct plan_case *gpu_machine_hgx(unsigned tasks);

/* `nics` equal NICs on one NUMA node, without GPUs. */
struct plan_case *gpu_machine_equal_rails(unsigned nics, unsigned tasks);

#endif
