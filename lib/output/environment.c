/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/rail.h"
#include "util/number.h"

/* The limit for one "NAME=value", in bytes. */
#define ENTRY_MAX 4096

const char *const nuioa_environment_names[] = { "NUIOA_VERSION",   "NUIOA_LEADER",  "NUIOA_ORDER",
                                                "NUIOA_NEAR",      "NUIOA_LEADERS", "NUIOA_NIC",
                                                "NUIOA_LEVEL",     "NUIOA_WEIGHT",  "NUIOA_CPUS",
                                                "NUIOA_COMM_CPUS", "NUIOA_PLANNED", NULL };

/* A block of variables that is being written. */
struct block {
    char *text;
    size_t size, used; /* bytes; `used` is without the NUL that ends the block */
    int rc;            /* -ENOSPC once an entry did not fit, else 0 */
};

/* Adds one entry. An entry of ENTRY_MAX bytes or more is left out. An entry that does not fit into
 * the block makes the block fail. */
__attribute__((format(printf, 2, 3))) static void put(struct block *b, const char *fmt, ...)
{
    char *entry = b->text + b->used;
    size_t room = b->size - b->used;
    va_list args;
    if (b->rc < 0)
        return;
    va_start(args, fmt);
    int length = vsnprintf(entry, room, fmt, args);
    va_end(args);
    bool fits = length >= 0 && (size_t)length + 2 <= room;
    if (fits && length < ENTRY_MAX)
        b->used += (size_t)length + 1;
    else if (length < ENTRY_MAX)
        b->rc = -ENOSPC;
    b->text[b->used] = '\0';
}

static int begin(struct block *b, char *env, size_t size)
{
    *b = (struct block){ .text = env, .size = size };
    if (size < 1)
        return -ENOSPC;
    env[0] = '\0';
    return 0;
}

static int end(const struct block *b)
{
    return b->rc < 0 ? b->rc : (int)b->used + 1;
}

static void put_order(struct block *b, const struct nuioa_plan *plan)
{
    char list[ENTRY_MAX];
    size_t used = 0;
    for (uint32_t i = 0; i < plan->order_count; i++) {
        int n = snprintf(list + used, sizeof(list) - used, "%s%u", i ? "," : "",
                         plan->assignments[plan->order[i]].rank);
        if (n < 0 || (size_t)n >= sizeof(list) - used)
            return;
        used += (size_t)n;
    }
    put(b, "NUIOA_ORDER=%s", list);
}

int nuioa_environment(const struct nuioa_plan *plan, const struct nuioa_node *node,
                      const struct nuioa_options *options, uint32_t local, char *env, size_t size)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    struct block b;
    char text[ENTRY_MAX];
    if (begin(&b, env, size) < 0)
        return -ENOSPC;
    if (!(options->export_set & NUIOA_EXPORT_ENV))
        return end(&b);
    put(&b, "NUIOA_VERSION=1");
    if (plan->order_count) {
        put(&b, "NUIOA_LEADER=%u", plan->assignments[plan->order[0]].rank);
        put_order(&b, plan);
        put(&b, "NUIOA_NEAR=%u", plan->near);
    }
    if (assignment->nic >= 0)
        put(&b, "NUIOA_NIC=%s", nuioa_nic_label(&node->nics[assignment->nic], text, sizeof(text)));
    if (assignment->level != NUIOA_NO_LEVEL)
        put(&b, "NUIOA_LEVEL=%u", assignment->level);
    if (plan->hinted)
        put(&b, "NUIOA_WEIGHT=%s", nuioa_print_decimal(assignment->weight, text, sizeof(text)));
    if (hwloc_bitmap_list_snprintf(text, sizeof(text), assignment->cpus) < (int)sizeof(text))
        put(&b, "NUIOA_CPUS=%s", text);
    if (assignment->place_count &&
        hwloc_bitmap_list_snprintf(text, sizeof(text), assignment->places[0]) < (int)sizeof(text))
        put(&b, "NUIOA_COMM_CPUS=%s", text);
    if (plan->planned)
        put(&b, "NUIOA_PLANNED=1");
    return end(&b);
}

/* Returns the unit number at the end of a name such as "hfi1_0", or NULL. */
static const char *unit_of(const char *name)
{
    const char *underscore = strrchr(name, '_');
    return underscore ? underscore + 1 : NULL;
}

/* Adds the variables for one NIC. UCX uses the same device names as nuioa; in libfabric they depend
 * on the provider. */
static void put_nic(struct block *b, const struct nuioa_nic *nic, unsigned wanted)
{
    bool verbs = nic->port > 0;
    char label[48];
    nuioa_nic_label(nic, label, sizeof(label));
    if (wanted & NUIOA_EXPORT_UCX)
        put(b, "UCX_NET_DEVICES=%s", label);
    if (wanted & NUIOA_EXPORT_OFI && nic->kind == NUIOA_NIC_ETHERNET && nic->netdev[0])
        put(b, "FI_TCP_IFACE=%s", nic->netdev);
    if (wanted & NUIOA_EXPORT_OFI && verbs && nic->kind == NUIOA_NIC_INFINIBAND)
        put(b, "FI_VERBS_DEVICE_NAME=%s", nic->name);
    if (wanted & NUIOA_EXPORT_PSM && nic->kind == NUIOA_NIC_OMNIPATH && unit_of(nic->name))
        put(b, "HFI_UNIT=%s", unit_of(nic->name));
    if (wanted & NUIOA_EXPORT_MPICH && nic->kind == NUIOA_NIC_SLINGSHOT)
        put(b, "MPICH_OFI_NIC_POLICY=NUMA");
}

/* Writes the names of the rails, such as "mlx5_0:1,mlx5_1:1": with `verbs` the verbs devices, else
 * the network devices of rails that have no verbs device. Returns false if there are none, or if
 * they do not fit. */
static bool list_rails(const struct nuioa_rails *rails, const struct nuioa_node *node, bool verbs,
                       char *list, size_t size)
{
    size_t used = 0;
    for (unsigned r = 0; r < rails->count; r++) {
        const struct nuioa_nic *nic = &node->nics[rails->nic[r]];
        char label[48];
        if (verbs != (nic->port > 0))
            continue;
        int n = snprintf(list + used, size - used, "%s%s", used ? "," : "",
                         verbs ? nuioa_nic_label(nic, label, sizeof(label)) : nic->netdev);
        if (n < 0 || (size_t)n >= size - used)
            return false;
        used += (size_t)n;
    }
    return used > 0;
}

/* Adds the variable of NCCL, only if the user or the site chose NICs. NCCL finds the NIC of a GPU
 * by itself. It needs equal values on all ranks and fails if each rank has its own NIC (NVIDIA/nccl
 * issue 1478). A value that begins with '=' has exact names. */
static void put_nccl(struct block *b, const struct nuioa_node *node,
                     const struct nuioa_options *options)
{
    struct nuioa_rails rails;
    char list[ENTRY_MAX];
    if (!(options->export_set & NUIOA_EXPORT_NCCL) || !strcmp(options->nic, "auto") ||
        nuioa_rails_init(&rails, node, options, NULL, NULL) < 0)
        return;
    if (list_rails(&rails, node, true, list, sizeof(list)))
        put(b, "NCCL_IB_HCA==%s", list);
    else if (list_rails(&rails, node, false, list, sizeof(list)))
        put(b, "NCCL_SOCKET_IFNAME==%s", list);
    nuioa_rails_free(&rails);
}

int nuioa_environment_foreign(const struct nuioa_plan *plan, const struct nuioa_node *node,
                              const struct nuioa_options *options, uint32_t local, char *env,
                              size_t size)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    struct block b;
    if (begin(&b, env, size) < 0)
        return -ENOSPC;
    if (assignment->nic >= 0)
        put_nic(&b, &node->nics[assignment->nic], options->export_set);
    put_nccl(&b, node, options);
    return end(&b);
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
static void put_progress(struct block *b, const struct nuioa_plan *plan, uint32_t local,
                         uint32_t omp_threads)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    uint32_t count =
        plan->task_count > assignment->place_count ? plan->task_count : assignment->place_count;
    char list[ENTRY_MAX];
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        int cpu = i < plan->task_count ? progress_cpu(plan, i, omp_threads)
                                       : hwloc_bitmap_first(assignment->places[i]);
        int n = snprintf(list + used, sizeof(list) - used, "%s%d", i ? "," : "", cpu);
        if (cpu < 0 || n < 0 || (size_t)n >= sizeof(list) - used)
            return;
        used += (size_t)n;
    }
    put(b, "MPIR_CVAR_PROGRESS_THREAD_AFFINITY=%s", list);
    put(b, "I_MPI_ASYNC_PROGRESS_PIN=%s", list);
}

int nuioa_environment_threads(const struct nuioa_plan *plan, uint32_t local, uint32_t omp_threads,
                              char *env, size_t size)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    struct block b;
    char places[ENTRY_MAX];
    if (begin(&b, env, size) < 0)
        return -ENOSPC;
    if (nuioa_places_text(assignment, places, sizeof(places))) {
        put(&b, "OMP_PLACES=%s", places);
        put(&b, "OMP_PROC_BIND=%s", spreads(plan) ? "spread" : "close");
        put_progress(&b, plan, local, omp_threads);
    }
    return end(&b);
}
