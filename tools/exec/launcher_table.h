/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_LAUNCHER_TABLE_H
#define NUIOA_TOOL_LAUNCHER_TABLE_H

#include <stdbool.h>

/* Which ranks of the job a node has, as the launcher documents. LAUNCHER_EQUAL_BLOCKS: consecutive
 * ones if all nodes have as many, otherwise nothing is known. */
enum launcher_order { LAUNCHER_ANY_ORDER, LAUNCHER_BLOCKS, LAUNCHER_EQUAL_BLOCKS };

/* The environment variables in which launchers tell a process which one it is. nuioa-exec(1) lists
 * them, in the same order. */
struct launcher {
    const char *name;           /* for --launcher */
    const char *local_rank;     /* NULL where the launcher does not say it, here and below */
    const char *local_size;     /* the number of ranks on the node */
    const char *local_size_too; /* the same, if local_size is not set */
    const char *rank;           /* in the job */
    const char *size;           /* the number of ranks in the job */
    const char *nodes;          /* the number of nodes */
    const char *spawned;        /* is set, and not 0, in processes that MPI_Comm_spawn started */
    enum launcher_order order;
    bool gpu_by_rank; /* programs take the GPU of their local rank, as it documents */
    bool divides;     /* each process has a cpuset of its own, or is bound in any case */
};

/* The table ends with name == NULL. The last two are read only if there is no other. */
extern const struct launcher launcher_table[];

#endif
