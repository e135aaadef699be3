/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/own_gpus.h"

#include <stdlib.h>
#include <string.h>

#include "ranks/request.h"
#include "spank/common/step.h"
#include "spank/stepd/gpu_access.h"
#include "topology/gpu_visible.h"

/* Sets `may` to the GPUs whose files this process may use. Returns true if that is known of every
 * GPU. *denied: the kernel denies it others. */
static bool see(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                hwloc_bitmap_t may, bool *denied)
{
    uint8_t access[TASK_GPUS_MAX];
    bool clear = true;
    gpu_access_self(devices, node->gpu_count, access);
    *denied = false;
    for (uint32_t i = 0; i < node->gpu_count; i++) {
        if (access[i] == GPU_ACCESS_GRANTED || node->emulated)
            hwloc_bitmap_set(may, i);
        else if (access[i] == GPU_ACCESS_DENIED)
            *denied = true;
        else
            clear = false;
    }
    return clear;
}

/* Returns the GPU that gpus=local-rank means, as in struct task_gpu_set. A task alone on its node
 * has all that it sees. */
static uint32_t by_rank(const struct step_facts *facts, uint32_t local,
                        const struct nuioa_gpu_device *devices, char *const *environment,
                        hwloc_const_bitmap_t may)
{
    enum nuioa_gpu_mode mode = facts->options.gpus;
    uint32_t order[TASK_GPUS_MAX], count = 0, tasks = facts->step.task_count;
    if (nuioa_gpu_rank_is_rule(mode) && tasks > 1)
        count = nuioa_gpus_in_order(&facts->node, devices, environment, may, order);
    return count ? 1 + order[nuioa_gpu_rank_place(mode, count, local, tasks)] : 0;
}

/* Finds the GPUs that this task sees: those that its variables name (topology/gpu_visible.h), which
 * count first, because they may divide what several processes may use; else the only one whose file
 * it may use, if the kernel denies it others. If neither tells, they are unknown; the set then has
 * those whose files it may use, or none if that is not known of every GPU. */
static void find_own(const struct step_facts *facts, uint32_t local, char *const *environment,
                     struct task_gpu_set *set)
{
    const struct nuioa_node *node = &facts->node;
    struct nuioa_gpu_device *devices = calloc(node->gpu_count + 1, sizeof(*devices));
    hwloc_bitmap_t gpus = hwloc_bitmap_alloc(), may = hwloc_bitmap_alloc();
    *set = (struct task_gpu_set){ .state = TASK_GPUS_UNKNOWN };
    if (devices && gpus && may) {
        bool denied;
        nuioa_gpu_devices_read(node, "", devices);
        bool clear = see(node, devices, may, &denied);
        hwloc_const_bitmap_t known = clear ? may : NULL;
        if (nuioa_gpus_visible(node, devices, environment, known, gpus))
            set->state = TASK_GPUS_KNOWN;
        else if (clear && hwloc_bitmap_copy(gpus, may) >= 0 && denied &&
                 hwloc_bitmap_weight(may) == 1)
            set->state = TASK_GPUS_KNOWN;
        set->by_rank = by_rank(facts, local, devices, environment, known);
    }
    for (uint32_t i = 0; gpus && i < node->gpu_count; i++)
        if (hwloc_bitmap_isset(gpus, i))
            set->bits[i / 64] |= UINT64_C(1) << i % 64;
    hwloc_bitmap_free(gpus);
    hwloc_bitmap_free(may);
    free(devices);
}

void own_gpus_tell(const struct step_run *c, uint32_t local, spank_t spank)
{
    const struct task_memory_part *task = &c->task_memory->tasks[local];
    struct task_gpu_set gpus;
    if (!c->gpus || (__atomic_load_n(&task->ready, __ATOMIC_ACQUIRE) && task->gpus.state))
        return;
    find_own(c->facts, local, step_environment(spank), &gpus);
    task_memory_tell(c->task_memory, local, &gpus);
}

bool own_gpus_are_denied(const struct step_run *c)
{
    const struct nuioa_node *node = &c->facts->node;
    struct nuioa_gpu_device *devices = calloc(node->gpu_count + 1, sizeof(*devices));
    uint8_t access[TASK_GPUS_MAX];
    bool denied = devices && !node->emulated && node->gpu_count && node->gpu_count <= TASK_GPUS_MAX;
    if (denied) {
        nuioa_gpu_devices_read(node, "", devices);
        gpu_access_self(devices, node->gpu_count, access);
    }
    for (uint32_t i = 0; denied && i < node->gpu_count; i++)
        denied = access[i] == GPU_ACCESS_DENIED;
    free(devices);
    return denied;
}
