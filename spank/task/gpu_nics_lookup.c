/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/gpu_nics_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/word.h"

#define ROW_MAX (sizeof(((struct task_gpu_nics *)NULL)->nics) / sizeof(uint32_t))

static bool has(const struct nuioa_assignment *assignment, uint32_t nic)
{
    for (uint32_t i = 0; i < assignment->nic_count; i++)
        if (assignment->nics[i] == nic)
            return true;
    return false;
}

/* Adds the NICs of the task's GPUs, found->gpus: the first NIC of each GPU, then the second of
 * each, and so on, in the first `columns` columns of the table, up to `limit` of them. Another task
 * of the user can write the table at any time, so a number is copied once, and only the copy is
 * checked and used. */
static void add_nics(const struct nuioa_node *node, const struct task_gpu_nics *table,
                     uint32_t columns, uint32_t limit, struct nuioa_assignment *found)
{
    for (uint32_t column = 0; column < columns; column++)
        for (uint32_t k = 0; k < found->gpu_count && found->nic_count < limit; k++) {
            const volatile struct task_gpu_nics *row = &table[found->gpus[k]];
            uint32_t nic = row->nics[column];
            if (column < row->count && nic < node->nic_count && !has(found, nic))
                found->nics[found->nic_count++] = nic;
        }
}

/* Returns the level of the CPUs in `list` from the NIC. */
static uint32_t level_of(const struct nuioa_node *node, const struct nuioa_nic *nic,
                         const char *list)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc(), numas = hwloc_bitmap_alloc();
    uint32_t level = NUIOA_NO_LEVEL;
    if (list && cpus && numas && nic->level && !hwloc_bitmap_list_sscanf(cpus, list)) {
        nuioa_node_numas_of(node, cpus, numas);
        for (uint32_t i = 0; i < node->numa_count; i++)
            if (hwloc_bitmap_isset(numas, node->numas[i].os_index) &&
                (level == NUIOA_NO_LEVEL || nic->level[i] > level))
                level = nic->level[i];
    }
    hwloc_bitmap_free(cpus);
    hwloc_bitmap_free(numas);
    return level;
}

/* Sets the GPUs and the NICs of *found, from the first `columns` columns of the table. Returns
 * false if there are no NICs, and then it holds nothing. */
static bool find(const struct step_run *c, const struct task_gpu_set *gpus, uint32_t columns,
                 uint32_t limit, struct nuioa_assignment *found)
{
    const struct nuioa_node *node = &c->facts->node;
    *found = (struct nuioa_assignment){ .nics = calloc(node->nic_count + 1, sizeof(uint32_t)),
                                        .gpus = calloc(node->gpu_count + 1, sizeof(uint32_t)) };
    bool ready = __atomic_load_n(&c->task_memory->table_ready, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; ready && found->nics && found->gpus && i < node->gpu_count; i++)
        if (gpus->bits[i / 64] >> i % 64 & 1)
            found->gpus[found->gpu_count++] = i;
    if (found->nics)
        add_nics(node, c->task_memory->table, columns, limit, found);
    if (found->nic_count)
        return true;
    free(found->nics);
    free(found->gpus);
    return false;
}

bool gpu_nics_look_up(const struct step_run *c, const struct task_gpu_set *gpus, const char *cpus,
                      struct nuioa_assignment *assignment)
{
    const struct nuioa_node *node = &c->facts->node;
    struct nuioa_assignment found;
    if (!find(c, gpus, ROW_MAX, c->facts->options.rails ? c->facts->options.rails : node->nic_count,
              &found))
        return false;
    found.nic = (int32_t)found.nics[0];
    found.level = level_of(node, &node->nics[found.nic], cpus);
    *assignment = found;
    return true;
}

/* Returns the place of a task among those that share its NUMA node: how many sets of as many cores
 * as the task's are before its own, in hwloc's logical order. A task that has all cores of the NUMA
 * node, or whose CPUs are unknown, has its local rank as place. */
static uint32_t place_of(const struct nuioa_node *node, const char *list, uint32_t local)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    uint32_t before = 0, own = 0, others = 0, last = UINT32_MAX;
    int32_t numa = -1;
    if (!cpus || !list || hwloc_bitmap_list_sscanf(cpus, list))
        goto out;
    for (uint32_t i = 0; i < node->pu_count && numa < 0; i++)
        if (hwloc_bitmap_isset(cpus, node->pus[i].os_index))
            numa = node->pus[i].numa;
    for (uint32_t i = 0; i < node->pu_count && numa >= 0; i++) {
        const struct nuioa_pu *pu = &node->pus[i];
        if (pu->numa != numa || pu->core == last)
            continue;
        last = pu->core;
        bool has = hwloc_bitmap_isset(cpus, pu->os_index);
        own += has;
        others += !has;
        before += !has && !own;
    }
out:
    hwloc_bitmap_free(cpus);
    return own && others ? before / own : local;
}

bool gpu_nics_look_up_one(const struct step_run *c, const struct task_gpu_set *gpus,
                          const char *cpus, uint32_t local, struct nuioa_assignment *assignment)
{
    const struct nuioa_node *node = &c->facts->node;
    struct nuioa_assignment found;
    uint32_t count = 0;
    if (!find(c, gpus, 1, node->nic_count, &found))
        return false;
    found.level = NUIOA_NO_LEVEL; /* which is the largest */
    for (uint32_t i = 0; i < found.nic_count; i++) {
        uint32_t level = level_of(node, &node->nics[found.nics[i]], cpus);
        count = level < found.level ? 0 : count;
        if (level <= found.level)
            found.nics[count++] = found.nics[i];
        found.level = level < found.level ? level : found.level;
    }
    found.nics[0] = found.nics[place_of(node, cpus, local) % count];
    found.nic = (int32_t)found.nics[0];
    found.nic_count = 1;
    found.gpu_count = 0;
    *assignment = found;
    return true;
}

/* Returns true if the entry "0000:1b:00.0=mlx5_0:1" is of a GPU of the set. */
static bool is_of(const struct step_run *c, const struct task_gpu_set *gpus, const char *entry)
{
    for (uint32_t i = 0; i < c->facts->node.gpu_count; i++) {
        const char *pci = c->facts->node.gpus[i].pci;
        if (gpus->bits[i / 64] >> i % 64 & 1 && !strncmp(entry, pci, strlen(pci)) &&
            entry[strlen(pci)] == '=')
            return true;
    }
    return false;
}

bool gpu_nics_text(const struct step_run *c, const struct task_gpu_set *gpus, char *text,
                   size_t size)
{
    /* Another task of the user can write there at any time, so it is copied once. */
    char all[sizeof(c->task_memory->gpu_nics)], *rest = all, *entry;
    struct nuioa_text t = nuioa_text_in(text, size);
    if (!__atomic_load_n(&c->task_memory->table_ready, __ATOMIC_ACQUIRE))
        return false;
    memcpy(all, c->task_memory->gpu_nics, sizeof(all));
    all[sizeof(all) - 1] = '\0';
    while ((entry = nuioa_next_word(&rest, ";")))
        if (is_of(c, gpus, entry))
            nuioa_text_add(&t, "%s%s", t.used ? ";" : "", entry);
    return nuioa_text_is_whole(&t);
}
