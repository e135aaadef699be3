/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu_machine.h"

#include <stdio.h>

#include "machine.h"

const struct gpu_shape gpu_shapes[GPU_SHAPES] = {
    { "HGX H100: a NIC for each GPU", 2, 8, 8, 8, NUIOA_PATH_PIX },
    { "DGX A100: two GPUs and two NICs on a switch", 2, 8, 8, 4, NUIOA_PATH_PXB },
    { "Frontier: two dies and a NIC", 4, 8, 4, 4, NUIOA_PATH_PIX },
    { "GH200: no switches", 4, 4, 4, 4, NUIOA_PATH_NODE },
    { "p5: four NICs for each GPU", 2, 8, 32, 8, NUIOA_PATH_PXB },
    { "four GPUs on a switch, two NICs", 2, 8, 4, 2, NUIOA_PATH_PIX },
    { "one switch", 1, 6, 3, 1, NUIOA_PATH_PHB },
};

struct plan_case *gpu_machine(const struct gpu_shape *g, unsigned tasks)
{
    struct plan_case *s = plan_case_new();
    machine_plain(&s->node, g->numas, 64 / g->numas);
    for (unsigned n = 0; n < g->nics; n++) {
        char name[16];
        snprintf(name, sizeof(name), "mlx5_%u", n);
        machine_nic(&s->node, name, n * g->numas / g->nics);
    }
    for (unsigned k = 0; k < g->gpus; k++)
        machine_gpu(&s->node, k * g->numas / g->gpus);
    for (unsigned k = 0; k < g->gpus; k++)
        for (unsigned n = 0; n < g->nics; n++) {
            bool near = k * g->numas / g->gpus == n * g->numas / g->nics;
            bool within = k * g->switches / g->gpus == n * g->switches / g->nics;
            machine_path(&s->node, k, n,
                         within ? g->within
                         : near ? NUIOA_PATH_NODE
                                : NUIOA_PATH_SYS);
        }
    plan_case_on(s, tasks, 1);
    return s;
}

struct plan_case *gpu_machine_hgx(unsigned tasks)
{
    return gpu_machine(&gpu_shapes[0], tasks);
}

struct plan_case *gpu_machine_equal_rails(unsigned nics, unsigned tasks)
{
    return gpu_machine(&(struct gpu_shape){ "", 1, 0, nics, 1, NUIOA_PATH_PIX }, tasks);
}
