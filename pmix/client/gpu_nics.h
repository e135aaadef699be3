/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_GPU_NICS_H
#define NUIOA_PMIX_CLIENT_GPU_NICS_H

#include <stddef.h>

/* This header is private to pmix/client. It declares the table of the network ports that are
 * nearest to each GPU, NUIOA_GPU_NICS. */

struct gpu_nics_entry {
    const char *pci;  /* "0000:1b:00.0" */
    const char *nics; /* "mlx5_0:1,mlx5_1:1", the best one first */
};

/* A table of zeros is empty. It owns all that it points to. */
struct gpu_nics {
    size_t count;
    struct gpu_nics_entry *entries; /* [count], which point into `text` */
    char *text;
};

/* Reads "0000:1b:00.0=mlx5_0:1+mlx5_1:1;..." into *table, which is empty before. A malformed text
 * counts as absent. Returns 0, or -ENOMEM; in both cases gpu_nics_clear frees what it holds. */
int gpu_nics_parse(struct gpu_nics *table, const char *text);

/* Frees what the table holds, and empties it. */
void gpu_nics_clear(struct gpu_nics *table);

/* Finds the entry of a GPU, named as for nuioa_client_nics_of_gpu. The UUIDs of the table's GPUs
 * are read below `root` ("" for this machine), from proc/driver/nvidia/gpus and from
 * sys/bus/pci/devices. Returns 0 and *nics; -ENOENT; or -EINVAL if it is no name of a GPU. */
int gpu_nics_find(const struct gpu_nics *table, const char *root, const char *gpu,
                  const char **nics);

#endif
