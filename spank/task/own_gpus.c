/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/own_gpus.h"

#include <stdlib.h>
#include <string.h>

#include "plan/gpu_rank.h"
#include "spank/common/step.h"
#include "spank/stepd/gpu_access.h"
#include "topology/gpu_visible.h"

/* What this process may use. */
struct reach {
    hwloc_bitmap_t may; /* indexes of the GPUs whose files it may use */
    bool denied;        /* the kernel denies it others */
    bool clear;         /* it is known of every GPU */
};

static void see(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                struct reach *reach)
{
    uint8_t access[TASK_GPUS_MAX];
    gpu_access_self(devices, node->gpu_count, access);
    reach->clear = true;
    for (uint32_t i = 0; i < node->gpu_count; i++) {
        if (access[i] == GPU_ACCESS_GRANTED || node->emulated)
            hwloc_bitmap_set(reach->may, i);
        else if (access[i] == GPU_ACCESS_DENIED)
            reach->denied = true;
        else
            reach->clear = false;
    }
}

/* What find() is told and finds. */
struct search {
    const struct step_run *context;
    uint32_t local; /* the task's local rank */
    const struct nuioa_gpu_device *devices;
    char *const *environment;
    hwloc_bitmap_t gpus;
    uint32_t by_rank; /* as in struct task_gpu_set */
};

/* Sets the GPU that gpus=local-rank means. A task alone on its node has all that it sees. */
static void find_by_rank(struct search *s, hwloc_const_bitmap_t may)
{
    const struct nuioa_node *node = &s->context->facts->node;
    const struct step *step = &s->context->facts->step;
    enum nuioa_gpu_mode mode = s->context->facts->options.gpus;
    uint32_t order[TASK_GPUS_MAX];
    if (!nuioa_gpu_rank_is_rule(mode) || step->task_count <= 1)
        return;
    uint32_t count = nuioa_gpus_in_order(node, s->devices, s->environment, may, order);
    if (count)
        s->by_rank = 1 + order[nuioa_gpu_rank_place(mode, count, s->local, step->task_count)];
}

/* Sets `gpus` to the GPUs that this process sees, and returns true if they are known; else to those
 * that it may use, or to none if that is not known either. Its variables count first, because they
 * may divide what several processes may use; then the only GPU that the kernel does not deny it. */
static bool find(struct search *s)
{
    const struct nuioa_node *node = &s->context->facts->node;
    struct reach reach = { .may = hwloc_bitmap_alloc() };
    if (!reach.may)
        return false;
    see(node, s->devices, &reach);
    hwloc_const_bitmap_t may = reach.clear ? reach.may : NULL;
    bool known = nuioa_gpus_visible(node, s->devices, s->environment, may, s->gpus);
    if (!known && reach.clear && hwloc_bitmap_copy(s->gpus, reach.may) >= 0)
        known = reach.denied && hwloc_bitmap_weight(reach.may) == 1;
    find_by_rank(s, may);
    hwloc_bitmap_free(reach.may);
    return known;
}

/* Finds the GPUs that this task sees: those that its variables name (topology/gpu_visible.h); else
 * the only one whose file it may use, if the kernel denies it others. If neither tells, they are
 * unknown; the set then has those whose files it may use, or none if that is not known of every
 * GPU. */
static void find_own(const struct step_run *c, uint32_t local, char *const *environment,
                     struct task_gpu_set *set)
{
    struct nuioa_gpu_device *devices = calloc(c->facts->node.gpu_count + 1, sizeof(*devices));
    hwloc_bitmap_t gpus = devices ? hwloc_bitmap_alloc() : NULL;
    *set = (struct task_gpu_set){ .state = TASK_GPUS_UNKNOWN };
    if (gpus && devices) {
        nuioa_gpu_devices_read(&c->facts->node, "", devices);
        struct search search = { c, local, devices, environment, gpus, 0 };
        if (find(&search))
            set->state = TASK_GPUS_KNOWN;
        set->by_rank = search.by_rank;
    }
    for (uint32_t i = 0; gpus && i < c->facts->node.gpu_count; i++)
        if (hwloc_bitmap_isset(gpus, i))
            set->bits[i / 64] |= UINT64_C(1) << i % 64;
    hwloc_bitmap_free(gpus);
    free(devices);
}

void own_gpus_tell(const struct step_run *c, uint32_t local, spank_t spank)
{
    const struct task_memory_part *task = &c->task_memory->tasks[local];
    struct task_gpu_set gpus;
    if (!c->gpus || (__atomic_load_n(&task->ready, __ATOMIC_ACQUIRE) && task->gpus.state))
        return;
    find_own(c, local, step_environment(spank), &gpus);
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
