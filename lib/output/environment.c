/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/variable_block.h"
#include "util/number.h"
#include "util/text.h"

const char nuioa_environment_names[][16] = {
    "NUIOA_VERSION",   "NUIOA_LEADER",  "NUIOA_ORDER",    "NUIOA_NEAR",
    "NUIOA_NIC",       "NUIOA_LEVEL",   "NUIOA_WEIGHT",   "NUIOA_CPUS",
    "NUIOA_COMM_CPUS", "NUIOA_PLANNED", "NUIOA_NICS",     "NUIOA_GPUS",
    "NUIOA_GPU_NICS",  "NUIOA_EXEC",    "NUIOA_EXPORTED", ""
};

static void put_order(struct nuioa_block *b, const struct nuioa_plan *plan)
{
    char list[NUIOA_BLOCK_ENTRY_MAX];
    struct nuioa_text t = nuioa_text_in(list, sizeof(list));
    for (uint32_t i = 0; i < plan->order_count; i++)
        nuioa_text_add(&t, "%s%u", i ? "," : "", plan->assignments[plan->order[i]].rank);
    if (!t.lost)
        nuioa_block_put(b, "NUIOA_ORDER=%s", list);
}

/* Adds what depends on the NICs of a rank. */
static void put_nics(struct nuioa_block *b, const struct nuioa_assignment *assignment,
                     const struct nuioa_node *node)
{
    char text[NUIOA_BLOCK_ENTRY_MAX];
    if (assignment->nic >= 0)
        nuioa_block_put(b, "NUIOA_NIC=%s",
                        nuioa_nic_label(&node->nics[assignment->nic], text, sizeof(text)));
    if (nuioa_nics_text(assignment, node, text, sizeof(text)))
        nuioa_block_put(b, "NUIOA_NICS=%s", text);
    if (nuioa_gpus_text(assignment, node, text, sizeof(text)))
        nuioa_block_put(b, "NUIOA_GPUS=%s", text);
    if (assignment->level != NUIOA_NO_LEVEL)
        nuioa_block_put(b, "NUIOA_LEVEL=%u", assignment->level);
}

int nuioa_environment_nics(const struct nuioa_assignment *assignment, const struct nuioa_node *node,
                           const struct nuioa_options *options, char *env, size_t size)
{
    struct nuioa_block b = nuioa_block_begin(env, size);
    if (options->export_set & NUIOA_EXPORT_ENV)
        put_nics(&b, assignment, node);
    return nuioa_block_end(&b);
}

int nuioa_environment(const struct nuioa_plan *plan, const struct nuioa_node *node,
                      const struct nuioa_options *options, uint32_t local, char *env, size_t size)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    struct nuioa_block b = nuioa_block_begin(env, size);
    char text[NUIOA_BLOCK_ENTRY_MAX];
    if (!(options->export_set & NUIOA_EXPORT_ENV))
        return nuioa_block_end(&b);
    nuioa_block_put(&b, "NUIOA_VERSION=1");
    if (plan->order_count) {
        nuioa_block_put(&b, "NUIOA_LEADER=%u", plan->assignments[plan->order[0]].rank);
        put_order(&b, plan);
        nuioa_block_put(&b, "NUIOA_NEAR=%u", plan->near);
    }
    put_nics(&b, assignment, node);
    if (nuioa_gpu_nics_text(&plan->usable, node, assignment->seen, assignment->seen_count, text,
                            sizeof(text)))
        nuioa_block_put(&b, "NUIOA_GPU_NICS=%s", text);
    if (plan->hinted)
        nuioa_block_put(&b, "NUIOA_WEIGHT=%s",
                        nuioa_print_decimal(assignment->weight, text, sizeof(text)));
    if (hwloc_bitmap_list_snprintf(text, sizeof(text), assignment->cpus) < (int)sizeof(text))
        nuioa_block_put(&b, "NUIOA_CPUS=%s", text);
    if (assignment->place_count &&
        hwloc_bitmap_list_snprintf(text, sizeof(text), assignment->places[0]) < (int)sizeof(text))
        nuioa_block_put(&b, "NUIOA_COMM_CPUS=%s", text);
    if (plan->planned)
        nuioa_block_put(&b, "NUIOA_PLANNED=1");
    return nuioa_block_end(&b);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Returns true if threads shall spread over the OMP places: a rank alone on its node uses the
 * memory of all its NUMA nodes. */
static bool spreads(const struct nuioa_plan *plan)
{
    return plan->task_count == 1 && hwloc_bitmap_weight(plan->assignments[0].numas) > 1;
}

/* Returns the CPU of a rank's progress thread, or -1 if no CPU is left for it. */
static int progress_cpu(const struct nuioa_plan *plan, uint32_t local, uint32_t omp_threads)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    if (!assignment->place_count || !omp_threads)
        return -1;
    /* When threads spread, the second place is in the part of the first thread. */
    if (omp_threads < assignment->place_count)
        return hwloc_bitmap_first(assignment->places[spreads(plan) ? 1 : omp_threads]);
    if (omp_threads == assignment->place_count && hwloc_bitmap_weight(assignment->places[0]) > 1)
        return hwloc_bitmap_last(assignment->places[0]);
    return -1;
}

/* Adds the variables for progress threads: one CPU for each local rank, then one for each further
 * core of this rank. The list is that long because MPICH ends a program that finds no CPU of its
 * own in it, and a rank may start an MPI program with more ranks. */
static void put_progress(struct nuioa_block *b, const struct nuioa_plan *plan, uint32_t local,
                         uint32_t omp_threads)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    uint32_t count =
        plan->task_count > assignment->place_count ? plan->task_count : assignment->place_count;
    char list[NUIOA_BLOCK_ENTRY_MAX];
    struct nuioa_text t = nuioa_text_in(list, sizeof(list));
    for (uint32_t i = 0; i < count; i++) {
        int cpu = i < plan->task_count ? progress_cpu(plan, i, omp_threads)
                                       : hwloc_bitmap_first(assignment->places[i]);
        nuioa_text_add(&t, "%s%d", i ? "," : "", cpu);
        if (cpu < 0 || t.lost)
            return;
    }
    nuioa_block_put(b, "MPIR_CVAR_PROGRESS_THREAD_AFFINITY=%s", list);
    nuioa_block_put(b, "I_MPI_ASYNC_PROGRESS_PIN=%s", list);
}

int nuioa_environment_threads(const struct nuioa_plan *plan, uint32_t local, uint32_t omp_threads,
                              char *env, size_t size)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    struct nuioa_block b = nuioa_block_begin(env, size);
    char places[NUIOA_BLOCK_ENTRY_MAX];
    if (plan->binds_threads && nuioa_places_text(assignment, places, sizeof(places))) {
        nuioa_block_put(&b, "OMP_PLACES=%s", places);
        nuioa_block_put(&b, "OMP_PROC_BIND=%s", spreads(plan) ? "spread" : "close");
        put_progress(&b, plan, local, omp_threads);
    }
    return nuioa_block_end(&b);
}
