/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/rail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool same_fabric(const struct nuioa_nic *a, const struct nuioa_nic *b)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one NIC is taken, so one is the best. */
    return a->kind == b->kind && !strcmp(a->fabric, b->fabric);
}

/* Removes from `taken` the NICs that are not on the fastest fabric and, if some NICs have known
 * NUMA nodes, those that have none. */
static void narrow(const struct nuioa_node *node, enum nuioa_policy policy, bool *taken,
                   struct nuioa_warnings *warnings)
{
    const struct nuioa_nic *best = NULL;
    char label[48];
    for (unsigned i = 0; i < node->nic_count; i++)
        if (taken[i] && (!best || nuioa_nic_prefer(&node->nics[i], best, policy)))
            best = &node->nics[i];
    for (unsigned i = 0; i < node->nic_count; i++)
        if (taken[i] && !same_fabric(&node->nics[i], best)) {
            taken[i] = false;
            nuioa_warn(warnings, "NIC %s is not on the fabric of %s: left out",
                       nuioa_nic_label(&node->nics[i], label, sizeof(label)), best->name);
        }

    bool located = false;
    for (unsigned i = 0; i < node->nic_count; i++)
        located |= taken[i] && node->nics[i].level;
    for (unsigned i = 0; located && i < node->nic_count; i++)
        if (taken[i] && !node->nics[i].level) {
            taken[i] = false;
            nuioa_warn(warnings, "NIC %s: its NUMA node is unknown: left out",
                       nuioa_nic_label(&node->nics[i], label, sizeof(label)));
        }
}

/* Sets *mean to the mean of both directions of the distance table. A job bound by latency waits for
 * both: for requests to the NIC and for answers from it ([PDCS 2007] in doc/design.md, section
 * 4.1). */
static int mean_levels(const struct nuioa_node *node, struct nuioa_distance *mean)
{
    unsigned n = node->distance.count;
    *mean = (struct nuioa_distance){ .source = node->distance.source, .count = n };
    mean->matrix = malloc((size_t)n * n * sizeof(*mean->matrix));
    mean->level = malloc((size_t)n * n * sizeof(*mean->level));
    if (!mean->matrix || !mean->level)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            mean->matrix[(size_t)i * n + j] = (nuioa_distance_at(&node->distance, i, j) +
                                               nuioa_distance_at(&node->distance, j, i) + 1) /
                                              2;
    nuioa_distance_levels(mean);
    return 0;
}

static void levels_from(const struct nuioa_node *node, const struct nuioa_distance *d,
                        const struct nuioa_nic *nic, uint8_t *level)
{
    memset(level, UINT8_MAX, node->numa_count);
    for (unsigned n = 0; n < node->numa_count; n++)
        for (unsigned k = 0;
             hwloc_bitmap_isset(nic->numas, node->numas[n].os_index) && k < node->numa_count; k++)
            if (nuioa_level_at(d, n, k) < level[k])
                level[k] = (uint8_t)nuioa_level_at(d, n, k);
}

static int fill_levels(struct nuioa_rails *rails, const struct nuioa_node *node,
                       enum nuioa_policy policy)
{
    struct nuioa_distance mean = { 0 };
    int rc = policy == NUIOA_POLICY_LATENCY ? mean_levels(node, &mean) : 0;
    for (unsigned r = 0; rc == 0 && r < rails->count; r++) {
        const struct nuioa_nic *nic = &node->nics[rails->nic[r]];
        uint8_t *level = rails->level + (size_t)r * rails->numa_count;
        if (policy == NUIOA_POLICY_LATENCY)
            levels_from(node, &mean, nic, level);
        else
            memcpy(level, nic->level, rails->numa_count);
    }
    free(mean.matrix);
    free(mean.level);
    return rc;
}

static int index_cpus(struct nuioa_rails *rails, const struct nuioa_node *node)
{
    for (unsigned i = 0; i < node->pu_count; i++)
        if (node->pus[i].os_index >= rails->cpu_count)
            rails->cpu_count = node->pus[i].os_index + 1;
    rails->numa_of = malloc((rails->cpu_count + 1) * sizeof(*rails->numa_of));
    if (!rails->numa_of)
        return -ENOMEM;
    for (unsigned i = 0; i < rails->cpu_count; i++)
        rails->numa_of[i] = -1;
    for (unsigned i = 0; i < node->pu_count; i++)
        rails->numa_of[node->pus[i].os_index] = node->pus[i].numa;
    return 0;
}

int nuioa_rails_init(struct nuioa_rails *rails, const struct nuioa_node *node,
                     const struct nuioa_options *options, struct nuioa_warnings *warnings,
                     struct nuioa_error *err)
{
    *rails = (struct nuioa_rails){ .numa_count = node->numa_count };
    bool *taken = calloc(node->nic_count + 1, sizeof(*taken));
    rails->nic = calloc(node->nic_count + 1, sizeof(*rails->nic));
    rails->level = calloc((size_t)node->nic_count * node->numa_count + 1, 1);
    int rc = index_cpus(rails, node);
    if (rc < 0 || !taken || !rails->nic || !rails->level) {
        rc = nuioa_fail(err, -ENOMEM, "out of memory");
        goto out;
    }
    rc = nuioa_nic_select(node, options->nic, options->policy, taken, warnings, err);
    if (rc < 0)
        goto out;
    if (rc > 0)
        narrow(node, options->policy, taken, warnings);
    for (unsigned i = 0; i < node->nic_count; i++)
        if (taken[i])
            rails->nic[rails->count++] = i;
    rails->located = rails->count && node->nics[rails->nic[0]].level;
    rc = rails->located ? fill_levels(rails, node, options->policy) : 0;
out:
    free(taken);
    if (rc < 0)
        nuioa_rails_free(rails);
    return rc;
}

void nuioa_rails_free(struct nuioa_rails *rails)
{
    free(rails->nic);
    free(rails->level);
    free(rails->numa_of);
    *rails = (struct nuioa_rails){ 0 };
}

/* Returns the level from a rail to the farthest NUMA node. */
static uint32_t farthest(const struct nuioa_rails *rails, unsigned rail)
{
    uint32_t far = 0;
    for (unsigned k = 0; k < rails->numa_count; k++)
        if (rails->level[(size_t)rail * rails->numa_count + k] > far)
            far = rails->level[(size_t)rail * rails->numa_count + k];
    return far;
}

uint32_t nuioa_rail_level(const struct nuioa_rails *rails, unsigned rail, hwloc_const_bitmap_t cpus)
{
    if (!rails->located)
        return NUIOA_NO_LEVEL;
    uint32_t worst = 0;
    unsigned cpu;
    hwloc_bitmap_foreach_begin(cpu, cpus)
    {
        int32_t numa = cpu < rails->cpu_count ? rails->numa_of[cpu] : -1;
        uint32_t level = numa < 0 ? farthest(rails, rail)
                                  : rails->level[(size_t)rail * rails->numa_count + numa];
        if (level > worst)
            worst = level;
    }
    hwloc_bitmap_foreach_end();
    return worst;
}

uint32_t nuioa_rails_nearest(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus)
{
    uint32_t nearest = NUIOA_NO_LEVEL;
    for (unsigned r = 0; r < rails->count; r++) {
        uint32_t level = nuioa_rail_level(rails, r, cpus);
        if (level < nearest)
            nearest = level;
    }
    return nearest;
}

uint32_t nuioa_rails_tie(const struct nuioa_rails *rails, const struct nuioa_node *node,
                         hwloc_const_bitmap_t cpus)
{
    for (unsigned r = 0; r < rails->count; r++)
        if (hwloc_bitmap_isincluded(cpus, node->nics[rails->nic[r]].cpus))
            return 0;
    return 1;
}

struct rank_choice {
    uint32_t local;
    uint32_t choices; /* rails that are equally near */
    double weight;
};

/* Ranks with fewer choices come first, so that the others can balance the loads. */
static int choosing_order(const void *a, const void *b)
{
    const struct rank_choice *x = a, *y = b;
    if (x->choices != y->choices)
        return x->choices < y->choices ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->local < y->local ? -1 : 1;
}

/* Returns a number that is lower for nearer rails. A rail attached to exactly these CPUs (an L3) is
 * nearer than another one on the same NUMA node. */
static uint64_t reach_from(const struct nuioa_rails *rails, const struct nuioa_node *node,
                           hwloc_const_bitmap_t cpus, unsigned rail)
{
    uint32_t level = nuioa_rail_level(rails, rail, cpus);
    bool beside = hwloc_bitmap_isincluded(cpus, node->nics[rails->nic[rail]].cpus);
    return ((uint64_t)level << 1) | !beside;
}

unsigned nuioa_rails_near(const struct nuioa_rails *rails, const struct nuioa_node *node,
                          hwloc_const_bitmap_t cpus, bool *near)
{
    uint64_t best = UINT64_MAX;
    unsigned count = 0;
    for (unsigned r = 0; r < rails->count; r++) {
        uint64_t here = reach_from(rails, node, cpus, r);
        best = here < best ? here : best;
    }
    for (unsigned r = 0; r < rails->count; r++)
        count += near[r] = reach_from(rails, node, cpus, r) == best;
    return count;
}

/* Returns reach_from for a rank: from its GPU if it has one, else from its CPUs. */
static uint64_t reach(const struct nuioa_rails *rails, const struct nuioa_request *request,
                      const struct nuioa_assignment *assignment, const struct nuioa_task *task,
                      unsigned rail)
{
    const struct nuioa_node *node = request->node;
    hwloc_const_bitmap_t cpus = assignment->cpus;
    if (task->gpu_count && !hwloc_bitmap_iszero(node->gpus[task->gpus[0]].cpus))
        cpus = node->gpus[task->gpus[0]].cpus;
    return reach_from(rails, node, cpus, rail);
}

/* Returns the load of the rail's card with `weight` added, divided by its rate if `rated` (all
 * rates are known). A small part of the rail's own load decides between two ports of a card. */
static double relative_load(const struct nuioa_rails *rails, const struct nuioa_node *node,
                            const double *load, unsigned rail, double weight, bool rated)
{
    const struct nuioa_nic *nic = &node->nics[rails->nic[rail]];
    double card = weight;
    for (unsigned r = 0; r < rails->count; r++)
        if (node->nics[rails->nic[r]].card == nic->card)
            card += load[r];
    return card / (rated ? nic->rate_mbps : 1) + 1e-9 * load[rail];
}

static uint32_t count_choices(const struct nuioa_rails *rails, const struct nuioa_request *request,
                              const struct nuioa_assignment *assignment,
                              const struct nuioa_task *task)
{
    uint64_t best = UINT64_MAX;
    uint32_t choices = 0;
    for (unsigned r = 0; r < rails->count; r++) {
        uint64_t here = reach(rails, request, assignment, task, r);
        choices = here < best ? 1 : choices + (here == best);
        best = here < best ? here : best;
    }
    return choices;
}

static unsigned choose(const struct nuioa_rails *rails, const struct nuioa_request *request,
                       const struct nuioa_assignment *assignment, const struct nuioa_task *task,
                       const double *load, double weight, bool rated)
{
    unsigned best = 0;
    uint64_t best_reach = UINT64_MAX;
    double best_load = 0;
    for (unsigned r = 0; r < rails->count; r++) {
        uint64_t here = reach(rails, request, assignment, task, r);
        double p = relative_load(rails, request->node, load, r, weight, rated);
        if (here < best_reach || (here == best_reach && p < best_load)) {
            best = r;
            best_reach = here;
            best_load = p;
        }
    }
    return best;
}

int nuioa_rails_assign(const struct nuioa_rails *rails, const struct nuioa_request *request,
                       struct nuioa_assignment *assignments)
{
    uint32_t n = request->task_count;
    struct rank_choice *order = malloc(n * sizeof(*order));
    double *load = calloc(rails->count + 1, sizeof(*load));
    bool rated = true;
    double heaviest = 0, sum = 0;
    int rc = -ENOMEM;
    if (!order || !load)
        goto out;
    for (unsigned r = 0; r < rails->count; r++)
        rated &= request->node->nics[rails->nic[r]].rate_mbps > 0;
    for (uint32_t i = 0; i < n; i++)
        heaviest = assignments[i].weight > heaviest ? assignments[i].weight : heaviest;
    /* Ranks without weight get a small one, so that they share the rails evenly too. */
    double least = heaviest > 0 ? 1e-6 * heaviest : 1;
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct rank_choice){
            i, count_choices(rails, request, &assignments[i], &request->tasks[i]),
            assignments[i].weight > least ? assignments[i].weight : least
        };
    for (uint32_t i = 0; i < n; i++)
        sum += order[i].weight;
    for (unsigned r = 0; request->nic_ranks && r < rails->count; r++)
        load[r] = request->nic_ranks[rails->nic[r]] * sum / n;
    qsort(order, n, sizeof(*order), choosing_order);

    for (uint32_t i = 0; i < n; i++) {
        struct nuioa_assignment *assignment = &assignments[order[i].local];
        assignment->nic = -1;
        assignment->level = NUIOA_NO_LEVEL;
        if (!rails->count)
            continue;
        unsigned r = choose(rails, request, assignment, &request->tasks[order[i].local], load,
                            order[i].weight, rated);
        load[r] += order[i].weight;
        assignment->nic = (int32_t)rails->nic[r];
        assignment->level = nuioa_rail_level(rails, r, assignment->cpus);
    }
    rc = 0;
out:
    free(order);
    free(load);
    return rc;
}
