/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_LAUNCHER_TABLE_H
#define NUIOA_TOOL_LAUNCHER_TABLE_H

#include <stdbool.h>

/* The environment variables in which launchers tell a process which one it is. nuioa(1) lists them,
 * in the same order. */
struct launcher {
    const char *name;       /* for --launcher */
    const char *local_rank; /* NULL where the launcher does not say it, here and below */
    const char *local_size; /* the number of ranks on the node */
    const char *rank;       /* in the job */
    const char *size;       /* the number of ranks in the job */
    bool consecutive;       /* each node has consecutive ranks, as the launcher documents */
    bool gpu_by_rank;       /* programs take the GPU of their local rank, as it documents */
    bool divides;           /* each process has a cpuset of its own, or is bound in any case */
};

/* The table ends with name == NULL. The last two are read only if there is no other. */
extern const struct launcher launcher_table[];

#endif
