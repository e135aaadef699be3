/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"
#include "slots/core.h"

/* Sets `out` to the NUMA nodes among `numas` that have CPUs, and memory which the step may use. If
 * there is none, it is one that has such memory: one of `numas` without CPUs (HBM, CXL, memory of
 * GPUs), else the nearest to any of them, with CPUs if there is one. */
static void usable_memory(const struct planner *p, hwloc_const_bitmap_t numas, hwloc_bitmap_t out)
{
    const struct nuioa_node *node = p->basis.request->node;
    uint64_t least = UINT64_MAX;
    unsigned best = UINT32_MAX;
    hwloc_bitmap_zero(out);
    for (unsigned j = 0; j < node->numa_count; j++) {
        const struct nuioa_numa *numa = &node->numas[j];
        bool has_cpus = !hwloc_bitmap_iszero(numa->cpus);
        if (!numa->memory_bytes || !hwloc_bitmap_isset(p->basis.allowed_numas, numa->os_index))
            continue;
        if (has_cpus && hwloc_bitmap_isset(numas, numa->os_index))
            hwloc_bitmap_set(out, numa->os_index);
        for (unsigned i = 0; i < node->numa_count; i++) {
            uint64_t here = (has_cpus ? 0 : 1ull << 32) + nuioa_distance_at(&node->distance, i, j);
            if (hwloc_bitmap_isset(numas, node->numas[i].os_index) && (i == j ? 0 : here) < least) {
                least = i == j ? 0 : here;
                best = numa->os_index;
            }
        }
    }
    if (hwloc_bitmap_iszero(out) && best != UINT32_MAX)
        hwloc_bitmap_set(out, best);
}

/* Sets `numas` to the NUMA nodes of the NIC of a rank; of all its NICs if it is alone on its node,
 * because MPI stripes large messages over them. */
static void nic_memory(const struct planner *p, const struct nuioa_assignment *assignment,
                       hwloc_bitmap_t numas)
{
    const struct nuioa_node *node = p->basis.request->node;
    if (assignment->nic < 0 || !node->nics[assignment->nic].level)
        return;
    hwloc_bitmap_copy(numas, node->nics[assignment->nic].numas);
    for (uint32_t i = 1; p->basis.request->task_count == 1 && i < assignment->nic_count; i++)
        hwloc_bitmap_or(numas, numas, node->nics[assignment->nics[i]].numas);
}

/* Leaves only those of the memory's NUMA nodes that is nearest to the NIC of the rank. */
static void keep_nearest(const struct planner *p, struct nuioa_assignment *assignment)
{
    const struct nuioa_node *node = p->basis.request->node;
    uint32_t least = UINT32_MAX, nearest = 0;
    for (uint32_t i = 0; i < node->numa_count; i++)
        if (hwloc_bitmap_isset(assignment->memory_numas, node->numas[i].os_index) &&
            node->nics[assignment->nic].level[i] < least) {
            least = node->nics[assignment->nic].level[i];
            nearest = node->numas[i].os_index;
        }
    if (least != UINT32_MAX)
        hwloc_bitmap_only(assignment->memory_numas, nearest);
}

/* Each thread of a rank with several NUMA nodes finds its memory where it first touches it. For
 * users who asked for placement: notes what to type if there is one thread, and a core for each
 * rank, or with mem=local, if the user said that there is, leaves the memory that is nearest to the
 * NIC. */
static void settle_wide(const struct planner *p, struct nuioa_assignment *assignment)
{
    const struct nuioa_request *r = p->basis.request;
    if (hwloc_bitmap_weight(assignment->memory_numas) < 2 || !r->options->asked || r->overlaps ||
        r->unconfined || r->bound_by_user || assignment->nic < 0 ||
        !r->node->nics[assignment->nic].level)
        return;
    if (r->options->mem == NUIOA_MEM_LOCAL && r->threads == 1)
        keep_nearest(p, assignment);
    else if (!p->basis.follows && r->threads <= 1 && r->cpus_typed <= 1 &&
             r->task_count <= nuioa_core_count(r->node, p->basis.allowed_cpus))
        p->plan->advice |= 1u << NUIOA_ADVICE_MEMORY;
}

void nuioa_plan_memory(const struct planner *p, struct nuioa_assignment *assignment)
{
    const struct nuioa_request *r = p->basis.request;
    enum nuioa_mem mem = r->options->mem;
    assignment->memory = r->memory_by_user ? NUIOA_MEMORY_KEPT : NUIOA_MEMORY_DEFAULT;
    hwloc_bitmap_zero(assignment->memory_numas);
    if (!p->acts || r->memory_by_user || r->node->cut)
        return;
    hwloc_bitmap_t wanted = nuioa_arena_bitmap(p->basis.arena, assignment->numas);
    if (!wanted)
        return;
    if (mem == NUIOA_MEM_NIC)
        nic_memory(p, assignment, wanted);
    if (mem == NUIOA_MEM_INTERLEAVE && p->basis.rails.located)
        hwloc_bitmap_zero(wanted);
    for (unsigned i = 0; mem == NUIOA_MEM_INTERLEAVE && i < p->basis.rails.count; i++)
        hwloc_bitmap_or(wanted, wanted, r->node->nics[p->basis.rails.nic[i]].numas);

    usable_memory(p, wanted, assignment->memory_numas);
    if (mem == NUIOA_MEM_OFF || mem == NUIOA_MEM_LOCAL)
        settle_wide(p, assignment);
    int count = hwloc_bitmap_weight(assignment->memory_numas);
    bool striped = mem == NUIOA_MEM_NIC && r->task_count == 1 && assignment->nic_count > 1;
    if ((mem == NUIOA_MEM_INTERLEAVE || (striped && count > 1)) && count > 0)
        assignment->memory = NUIOA_MEMORY_INTERLEAVE;
    else if (mem == NUIOA_MEM_NIC && count > 0)
        assignment->memory = NUIOA_MEMORY_PREFERRED;
    /* With several NUMA nodes, the default policy (first touch) keeps memory local. */
    else if (mem == NUIOA_MEM_LOCAL && count == 1 && !r->bound_by_user)
        assignment->memory = NUIOA_MEMORY_PREFERRED;
    if (assignment->memory == NUIOA_MEMORY_PREFERRED)
        hwloc_bitmap_singlify(assignment->memory_numas);
    if (assignment->memory == NUIOA_MEMORY_DEFAULT)
        hwloc_bitmap_zero(assignment->memory_numas);
}
