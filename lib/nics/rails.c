/* SPDX-License-Identifier: BSD-3-Clause */
#include "nics/rails.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "topology/nic_guess.h"
#include "topology/nic_port.h"
#include "topology/nic_subnet.h"

/* Removes from `taken` the NICs that are not on the best fabric. `before` has as much room. */
static void narrow(const struct nuioa_node *node, enum nuioa_policy policy, bool *taken,
                   bool *before, struct nuioa_warnings *warnings)
{
    char label[48];
    memcpy(before, taken, node->nic_count * sizeof(*before));
    int32_t best = nuioa_nic_narrow(node, policy, taken);
    for (unsigned i = 0; best >= 0 && i < node->nic_count; i++)
        if (before[i] && !taken[i])
            nuioa_warn(warnings, "NIC %s is not on the fabric of %s: left out",
                       nuioa_nic_label(&node->nics[i], label, sizeof(label)),
                       node->nics[best].name);
}

/* Removes from `taken`, if some NICs have known NUMA nodes, those that have none. */
static void keep_located(const struct nuioa_node *node, bool *taken,
                         struct nuioa_warnings *warnings)
{
    char label[48];
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
    nuioa_distance_levels(mean, node);
    return 0;
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
            nuioa_levels_from(&mean, node, nic->numas, level);
        else
            memcpy(level, nic->level, rails->numa_count);
    }
    free(mean.matrix);
    free(mean.level);
    return rc;
}

static int fill_prices(struct nuioa_rails *rails, const struct nuioa_node *node,
                       enum nuioa_policy policy)
{
    unsigned n = rails->numa_count;
    bool any = false;
    for (unsigned r = 0; r < rails->count; r++)
        any = any || node->nics[rails->nic[r]].measured;
    if (!any)
        return 0;
    rails->price = calloc((size_t)rails->count * n, sizeof(*rails->price));
    if (!rails->price)
        return -ENOMEM;
    for (unsigned r = 0; r < rails->count; r++) {
        const struct nuioa_nic *nic = &node->nics[rails->nic[r]];
        for (unsigned k = 0; nic->measured && k < n; k++)
            rails->price[(size_t)r * n + k] = nuioa_measured_price(nic->measured, n, k, policy);
    }
    return 0;
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
    *rails =
        (struct nuioa_rails){ .node = node, .options = options, .numa_count = node->numa_count };
    bool *taken = calloc(2 * (size_t)node->nic_count + 1, sizeof(*taken));
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
    if (rc > 0) {
        narrow(node, options->policy, taken, taken + node->nic_count, warnings);
        rails->guessed = nuioa_nic_is_guessed(node, options->nic, options->policy, taken);
        keep_located(node, taken, warnings);
    }
    for (unsigned i = 0; i < node->nic_count; i++)
        if (taken[i])
            rails->nic[rails->count++] = i;
    for (unsigned r = 1; r < rails->count; r++)
        rails->unlike |= !nuioa_nic_same_rate(node->nics[rails->nic[0]].rate_mbps,
                                              node->nics[rails->nic[r]].rate_mbps);
    rails->down = !rails->count && nuioa_nic_is_down(node, options->nic, options->policy);
    rails->located = rails->count && node->nics[rails->nic[0]].level;
    rc = 0;
    if (rails->located && (fill_levels(rails, node, options->policy) < 0 ||
                           fill_prices(rails, node, options->policy) < 0))
        rc = nuioa_fail(err, -ENOMEM, "out of memory");
out:
    free(taken);
    if (rc < 0)
        nuioa_rails_free(rails);
    return rc;
}

int nuioa_usable_find(struct nuioa_usable *usable, const struct nuioa_rails *rails)
{
    *usable = (struct nuioa_usable){ .guessed = rails->guessed };
    usable->nics = malloc((rails->count + 1) * sizeof(*usable->nics));
    if (!usable->nics)
        return -ENOMEM;
    for (; usable->count < rails->count; usable->count++) {
        usable->nics[usable->count] = rails->nic[usable->count];
        usable->doubted |= nuioa_nic_is_doubted(&rails->node->nics[rails->nic[usable->count]]);
    }
    usable->connected =
        !usable->guessed && (rails->options->rails_connected ||
                             nuioa_nics_are_connected(rails->node, usable->nics, usable->count));
    return 0;
}

enum nuioa_advice nuioa_usable_lacks(const struct nuioa_usable *usable,
                                     const struct nuioa_node *node)
{
    bool verbs = usable->count > 1, prefix = true;
    for (uint32_t i = 0; i < usable->count; i++) {
        const struct nuioa_nic *nic = &node->nics[usable->nics[i]];
        bool infiniband = nic->kind == NUIOA_NIC_INFINIBAND;
        verbs = verbs && (infiniband || nic->kind == NUIOA_NIC_ROCE);
        prefix = prefix && infiniband && nuioa_nic_prefix_is_default(nic->fabric);
    }
    if (!verbs || usable->connected)
        return NUIOA_ADVICE_COUNT;
    if (usable->guessed || usable->doubted)
        return NUIOA_ADVICE_ROLES;
    return prefix ? NUIOA_ADVICE_CONNECTED : NUIOA_ADVICE_COUNT;
}

void nuioa_rails_free(struct nuioa_rails *rails)
{
    free(rails->nic);
    free(rails->level);
    free(rails->price);
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

double nuioa_nic_cost(const struct nuioa_options *options, uint32_t level)
{
    if (level == 0 || level == NUIOA_NO_LEVEL)
        return 1;
    return 1 + options->remote_cost + (level - 1) * options->hop_cost;
}

/* Returns the price of one NUMA node, an index into node->numas. */
static double price_of(const struct nuioa_rails *rails, unsigned rail, unsigned numa)
{
    size_t cell = (size_t)rail * rails->numa_count + numa;
    return rails->price[cell] > 0 ? rails->price[cell]
                                  : nuioa_nic_cost(rails->options, rails->level[cell]);
}

double nuioa_rail_price(const struct nuioa_rails *rails, unsigned rail, hwloc_const_bitmap_t cpus)
{
    if (!rails->price || !rails->located)
        return nuioa_nic_cost(rails->options, nuioa_rail_level(rails, rail, cpus));
    double worst = 1;
    unsigned cpu;
    hwloc_bitmap_foreach_begin(cpu, cpus)
    {
        int32_t numa = cpu < rails->cpu_count ? rails->numa_of[cpu] : -1;
        for (unsigned k = 0; k < rails->numa_count; k++)
            if (numa < 0 || (unsigned)numa == k)
                worst = fmax(worst, price_of(rails, rail, k));
    }
    hwloc_bitmap_foreach_end();
    return worst;
}

static bool outruns(const struct nuioa_rails *rails, unsigned rail, unsigned other,
                    hwloc_const_bitmap_t cpus)
{
    uint32_t fast = rails->node->nics[rails->nic[rail]].rate_mbps;
    uint32_t slow = rails->node->nics[rails->nic[other]].rate_mbps;
    return rails->unlike && slow && fast > slow && !nuioa_nic_same_rate(fast, slow) &&
           fast * nuioa_rail_price(rails, other, cpus) > slow * nuioa_rail_price(rails, rail, cpus);
}

static bool is_outrun(const struct nuioa_rails *rails, unsigned rail, hwloc_const_bitmap_t cpus)
{
    for (unsigned r = 0; rails->unlike && r < rails->count; r++)
        if (outruns(rails, r, rail, cpus))
            return true;
    return false;
}

uint32_t nuioa_rails_nearest(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus)
{
    uint32_t nearest = NUIOA_NO_LEVEL;
    for (unsigned r = 0; r < rails->count; r++) {
        uint32_t level = nuioa_rail_level(rails, r, cpus);
        if (level < nearest && !is_outrun(rails, r, cpus))
            nearest = level;
    }
    return nearest;
}

double nuioa_rails_price(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus)
{
    uint32_t nearest = nuioa_rails_nearest(rails, cpus);
    if (!rails->price || nearest == NUIOA_NO_LEVEL)
        return nuioa_nic_cost(rails->options, nearest);
    double least = INFINITY;
    for (unsigned r = 0; r < rails->count; r++)
        if (nuioa_rail_level(rails, r, cpus) == nearest && !is_outrun(rails, r, cpus))
            least = fmin(least, nuioa_rail_price(rails, r, cpus));
    return least;
}

uint32_t nuioa_rails_tie(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus)
{
    for (unsigned r = 0; r < rails->count; r++)
        if (hwloc_bitmap_isincluded(cpus, rails->node->nics[rails->nic[r]].cpus) &&
            !is_outrun(rails, r, cpus))
            return 0;
    return 1;
}

static uint32_t distance_of(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus,
                            unsigned rail)
{
    uint32_t level = nuioa_rail_level(rails, rail, cpus);
    return (level > UINT8_MAX ? UINT8_MAX + 1 : level) * 2 +
           !hwloc_bitmap_isincluded(cpus, rails->node->nics[rails->nic[rail]].cpus);
}

uint32_t nuioa_rail_distance(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus,
                             unsigned rail)
{
    uint32_t least = distance_of(rails, cpus, rail);
    for (unsigned r = 0; rails->unlike && r < rails->count; r++)
        if (outruns(rails, rail, r, cpus) && distance_of(rails, cpus, r) < least)
            least = distance_of(rails, cpus, r);
    return least;
}

unsigned nuioa_rails_near(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus, bool *near)
{
    uint32_t best = UINT32_MAX;
    unsigned count = 0;
    for (unsigned r = 0; r < rails->count; r++) {
        uint32_t here = nuioa_rail_distance(rails, cpus, r);
        best = here < best ? here : best;
    }
    for (unsigned r = 0; r < rails->count; r++)
        count += near[r] = nuioa_rail_distance(rails, cpus, r) == best;
    return count;
}

bool nuioa_rails_spanned(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus)
{
    const struct nuioa_nic *nics = rails->node->nics;
    bool apart = false;
    for (unsigned r = 0; r < rails->count; r++) {
        if (rails->unlike || nuioa_rail_level(rails, r, cpus) == 0 ||
            !hwloc_bitmap_intersects(cpus, nics[rails->nic[r]].cpus))
            return false;
        apart |= !hwloc_bitmap_isequal(nics[rails->nic[r]].numas, nics[rails->nic[0]].numas);
    }
    return apart;
}
