/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_DEVICES_MAX 64

static void add_pus(struct nuioa_node *node, const struct shape *s, unsigned numa)
{
    for (unsigned c = 0; c < s->cores; c++)
        for (unsigned t = 0; t < s->threads; t++) {
            unsigned core = numa * s->cores + c;
            /* as Linux numbers them on x86: all first threads, then all second ones */
            unsigned os = t * s->numas * s->cores + core;
            node->pus[node->pu_count++] = (struct nuioa_pu){
                os, core, core, numa, numa / s->numas_per_package, (int32_t)numa
            };
            hwloc_bitmap_set(node->numas[numa].cpus, os);
            hwloc_bitmap_set(node->allowed_cpus, os);
        }
}

void machine_build(struct nuioa_node *node, const struct shape *s)
{
    *node = (struct nuioa_node){
        .host = "machine",
        .package_count = s->numas / s->numas_per_package,
        .core_count = s->numas * s->cores,
        .numa_count = s->numas,
    };
    node->pus = calloc(s->numas * s->cores * s->threads, sizeof(*node->pus));
    node->numas = calloc(s->numas, sizeof(*node->numas));
    node->nics = calloc(MACHINE_DEVICES_MAX, sizeof(*node->nics));
    node->gpus = calloc(MACHINE_DEVICES_MAX, sizeof(*node->gpus));
    node->allowed_cpus = hwloc_bitmap_alloc();
    node->allowed_numas = hwloc_bitmap_alloc();
    node->distance.source = NUIOA_DISTANCE_SLIT;
    node->distance.count = s->numas;
    node->distance.matrix = calloc(s->numas * s->numas, sizeof(*node->distance.matrix));
    node->distance.level = calloc(s->numas * s->numas, sizeof(*node->distance.level));
    for (unsigned i = 0; i < s->numas; i++) {
        node->numas[i] = (struct nuioa_numa){ i, (int32_t)(i / s->numas_per_package), 1 << 30,
                                              hwloc_bitmap_alloc() };
        hwloc_bitmap_set(node->allowed_numas, i);
        for (unsigned j = 0; j < s->numas; j++)
            node->distance.matrix[i * s->numas + j] = s->matrix ? s->matrix[i * s->numas + j]
                                                      : i == j  ? 10
                                                                : 20;
        add_pus(node, s, i);
    }
    nuioa_distance_levels(&node->distance, node);
}

void machine_plain(struct nuioa_node *node, unsigned numas, unsigned cores)
{
    machine_build(node, &(struct shape){ numas, cores, 1, 1, NULL });
}

struct nuioa_nic *machine_nic(struct nuioa_node *node, const char *name, unsigned numa)
{
    struct nuioa_nic *nic = &node->nics[node->nic_count];
    *nic = (struct nuioa_nic){
        .port = 1,
        .kind = NUIOA_NIC_INFINIBAND,
        .state = NUIOA_NIC_ACTIVE,
        .locality = NUIOA_LOCALITY_HWLOC,
        .rate_mbps = 100000,
        .card = node->nic_count,
        .usable = true,
    };
    nuioa_copy(nic->name, sizeof(nic->name), name);
    nuioa_copy(nic->fabric, sizeof(nic->fabric), "fec0:0000:0000:0001");
    nic->numas = hwloc_bitmap_alloc();
    nic->cpus = hwloc_bitmap_dup(node->numas[numa].cpus);
    hwloc_bitmap_set(nic->numas, node->numas[numa].os_index);
    nic->level = malloc(node->numa_count);
    for (unsigned k = 0; k < node->numa_count; k++)
        nic->level[k] = (uint8_t)nuioa_level_at(&node->distance, numa, k);
    node->nic_count++;
    return nic;
}

struct nuioa_gpu *machine_gpu(struct nuioa_node *node, unsigned numa)
{
    struct nuioa_gpu *gpu = &node->gpus[node->gpu_count];
    *gpu = (struct nuioa_gpu){ .vendor = NUIOA_GPU_NVIDIA };
    snprintf(gpu->pci, sizeof(gpu->pci), "0000:%02x:00.0", node->gpu_count + 16);
    gpu->numas = hwloc_bitmap_alloc();
    gpu->cpus = hwloc_bitmap_dup(node->numas[numa].cpus);
    hwloc_bitmap_set(gpu->numas, node->numas[numa].os_index);
    node->gpu_count++;
    return gpu;
}

void machine_path(struct nuioa_node *node, unsigned gpu, unsigned nic, enum nuioa_path path)
{
    if (!node->paths)
        node->paths = calloc((size_t)node->gpu_count * node->nic_count, 1);
    node->paths[(size_t)gpu * node->nic_count + nic] = (uint8_t)path;
}

void machine_hagrid(struct nuioa_node *node, unsigned nic_numa)
{
    static const unsigned extra_ns[64] = { 0,   37,  35, 67, 67,  133, 102, 100, 37, 0,  67,
                                           35,  134, 66, 97, 97,  35,  69,  0,   36, 35, 101,
                                           69,  67,  69, 34, 35,  0,   102, 33,  66, 68, 67,
                                           101, 35,  67, 0,  69,  38,  37,  100, 65, 66, 34,
                                           71,  0,   35, 37, 102, 115, 69,  83,  37, 35, 0,
                                           35,  115, 99, 83, 67,  37,  37,  35,  0 };
    uint32_t matrix[64];
    for (unsigned i = 0; i < 64; i++)
        matrix[i] = 10 + (extra_ns[i] * 10 + 17) / 34;
    machine_build(node, &(struct shape){ 8, 2, 1, 1, matrix });
    machine_nic(node, "mlx4_0", nic_numa);
}

void machine_quad(struct nuioa_node *node)
{
    static const uint32_t ring[] = {
        10, 20, 30, 20, 20, 10, 20, 30, 30, 20, 10, 20, 20, 30, 20, 10
    };
    machine_build(node, &(struct shape){
                            .numas = 4,
                            .cores = 2,
                            .threads = 2,
                            .numas_per_package = 1,
                            .matrix = ring,
                        });
    machine_nic(node, "mlx5_0", 1);
    machine_nic(node, "mlx5_1", 3);
}
