/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_EXEC_INPUT_H
#define NUIOA_TOOL_EXEC_INPUT_H

#include "option/option.h"
#include "ranks/reason.h"
#include "topology/node.h"
#include "tools/exec/exec_gpus.h"
#include "tools/exec/launcher.h"

/* The CPUs and the memory that the kernel lets the calling process use. Sets have OS indexes. */
struct exec_cpus {
    hwloc_bitmap_t own;     /* CPUs on which it may run now */
    hwloc_bitmap_t all;     /* the effective cpuset of its cgroup: CPUs on which it could run */
    hwloc_bitmap_t numas;   /* NUMA nodes whose memory it may use; NULL: not known */
    bool has_memory_policy; /* somebody has set one, such as numactl(8) */
    hwloc_bitmap_t policy_numas; /* NUMA nodes that it prefers or demands; NULL: none, or spread */
    bool has_quota; /* the container may use less time than these CPUs have, as in Kubernetes */
    struct nuioa_arena arena; /* of the sets */
};

/* Reads all that. The kernel tells the CPUs and the memory, so that they are the same with cgroup
 * v1, v2 and none, and in a container. Only has_quota is from the files of the cgroup, below
 * /sys/fs/cgroup. A short-lived thread asks, and nothing is changed for the caller. Returns 0, or
 * negative with *err. The caller frees cpus->arena in any case. */
int exec_cpus_read(struct exec_cpus *cpus, struct nuioa_error *err);

/* A process knows this before it makes its plan. It is read once, and constant from then on. All
 * processes of a node read the same facts, and none that changes while they start: no load, no
 * state of a port. */
struct exec_input {
    /* The caller sets these; the last function below takes those back that cannot count here. */
    struct nuioa_options options; /* asked, and finished */
    uint32_t cpus_per_task;       /* as requested; 0: not requested */

    /* The functions below set these. */
    struct launcher_place place;
    struct exec_cpus cpus;  /* not used for another machine */
    bool placed;            /* the plugin has placed this process already */
    struct nuioa_node node; /* allowed_cpus: those that this process may get */
    struct exec_gpus gpus;
    enum nuioa_reason stay;         /* why this process keeps its CPUs; else NUIOA_REASON_NONE */
    struct nuioa_warnings warnings; /* faults that are no reason to stop */
};

/* Returns true if the variables of nuioa in the environment are of the step of this process: the
 * plugin has set them for a rank of it. */
bool exec_input_is_told(void);

/* Reads who this process is, and which CPUs it has. Returns 0, or negative with *err: as
 * launcher_find() and exec_cpus_read(). The caller calls exec_input_free in any case. */
int exec_input_read_process(struct exec_input *input, const struct launcher_request *request,
                            struct nuioa_error *err);

/* After that: reads the node, the GPUs, and what keeps this process where it is. Returns 0, or an
 * exit status after a message on stderr. */
int exec_input_read_node(struct exec_input *input);

/* Frees all that *input holds. */
void exec_input_free(struct exec_input *input);

#endif
