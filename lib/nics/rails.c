/* SPDX-License-Identifier: BSD-3-Clause */
#include "nics/rails.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "topology/nic_guess.h"
#include "topology/nic_subnet.h"

/* How many standard errors of their difference two medians must differ by to be believed. */
#define ERRORS 4

/* Removes from `taken` the NICs that are not on the best fabric. `before` has as much room. */
static void narrow(const struct nuioa_node *node, enum nuioa_policy policy, bool *taken,
                   bool *before, struct nuioa_warnings *warnings)
{
    char label[48];
    memcpy(before, taken, node->nic_count * sizeof(*before));
    int32_t best = nuioa_nic_narrow(node, policy, taken);
    for (unsigned i = 0; best >= 0 && i < node->nic_count; i++)
        if (before[i] && !taken[i])
            nuioa_warn(warnings, "NIC %s ignored: it is not on the fabric of %s",
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
            nuioa_warn(warnings, "NIC %s ignored: its NUMA node is unknown",
                       nuioa_nic_label(&node->nics[i], label, sizeof(label)));
        }
}

/* Sets *mean to the mean of both directions of the distance table. A job bound by latency waits for
 * both: for requests to the NIC and for answers from it ([PDCS 2007] in doc/design.md, section
 * 4.1). */
static void mean_levels(struct nuioa_rails *rails, struct nuioa_distance *mean)
{
    const struct nuioa_distance *d = &rails->node->distance;
    size_t n = d->count;
    *mean = (struct nuioa_distance){ .source = d->source, .count = d->count };
    mean->matrix = nuioa_arena_take(&rails->arena, n * n, sizeof(*mean->matrix));
    mean->level = nuioa_arena_take(&rails->arena, n * n, sizeof(*mean->level));
    if (rails->arena.failed)
        return;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            mean->matrix[i * n + j] =
                (nuioa_distance_at(d, i, j) + nuioa_distance_at(d, j, i) + 1) / 2;
    nuioa_distance_levels(mean, rails->node);
}

static void fill_levels(struct nuioa_rails *rails)
{
    const bool latency = rails->options->policy == NUIOA_POLICY_LATENCY;
    const uint32_t n = rails->numa_count;
    struct nuioa_distance mean;
    if (latency)
        mean_levels(rails, &mean);
    for (unsigned r = 0; !rails->arena.failed && r < rails->count; r++) {
        const struct nuioa_nic *nic = &rails->node->nics[rails->nic[r]];
        uint8_t *level = rails->level + (size_t)r * (n + 1);
        if (latency)
            nuioa_levels_from(&mean, rails->node, nic->numas, level);
        else
            memcpy(level, nic->level, n);
        for (uint32_t k = 0; k < n; k++)
            level[n] = level[k] > level[n] ? level[k] : level[n];
    }
}

/* Returns the standard error of a median of normal noise, in the unit of `mad`: 1.4826 mad is the
 * standard deviation, and a median is 1.2533 times as uncertain as a mean. */
static double error_of(const struct nuioa_nic_measured *m)
{
    return 1.2533 * 1.4826 * m->mad / sqrt(m->n);
}

/* How good it is: a rate, or what messages take turned over. 0: unknown. */
static double worth(const struct nuioa_nic_measured *m, enum nuioa_policy policy)
{
    if (!m->n)
        return 0;
    if (policy == NUIOA_POLICY_LATENCY)
        return m->latency_ns > 0 ? 1 / m->latency_ns : 0;
    return m->write_mb_s;
}

double nuioa_measured_price(const struct nuioa_nic_measured *measured, uint32_t count, uint32_t k,
                            enum nuioa_policy policy)
{
    uint32_t best = k;
    double here = worth(&measured[k], policy);
    if (!(here > 0))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (worth(&measured[i], policy) > worth(&measured[best], policy))
            best = i;
    double most = worth(&measured[best], policy);
    if (measured[k].n < 2 || measured[best].n < 2)
        return 1; /* one value does not tell how values spread */
    double doubt = ERRORS * hypot(error_of(&measured[k]), error_of(&measured[best]));
    return most - here < doubt * most ? 1 : most / here;
}

static void fill_prices(struct nuioa_rails *rails)
{
    const uint32_t n = rails->numa_count;
    bool any = false;
    for (unsigned r = 0; r < rails->count; r++)
        any = any || rails->node->nics[rails->nic[r]].measured;
    if (any)
        rails->price =
            nuioa_arena_take(&rails->arena, (size_t)rails->count * (n + 1), sizeof(*rails->price));
    for (unsigned r = 0; rails->price && r < rails->count; r++) {
        const struct nuioa_nic *nic = &rails->node->nics[rails->nic[r]];
        double *price = rails->price + (size_t)r * (n + 1);
        for (uint32_t k = 0; k < n; k++) {
            if (nic->measured)
                price[k] = nuioa_measured_price(nic->measured, n, k, rails->options->policy);
            if (price[k] <= 0)
                price[k] = nuioa_nic_cost(rails->options, rails->level[(size_t)r * (n + 1) + k]);
            price[n] = fmax(price[n], price[k]);
        }
    }
}

static void index_cpus(struct nuioa_rails *rails)
{
    const struct nuioa_node *node = rails->node;
    for (unsigned i = 0; i < node->pu_count; i++)
        if (node->pus[i].os_index >= rails->cpu_count)
            rails->cpu_count = node->pus[i].os_index + 1;
    rails->numa_of = nuioa_arena_take(&rails->arena, rails->cpu_count, sizeof(*rails->numa_of));
    for (unsigned i = 0; rails->numa_of && i < rails->cpu_count; i++)
        rails->numa_of[i] = node->numa_count;
    for (unsigned i = 0; rails->numa_of && i < node->pu_count; i++)
        if (node->pus[i].numa >= 0)
            rails->numa_of[node->pus[i].os_index] = (uint32_t)node->pus[i].numa;
}

static void number_cards(struct nuioa_rails *rails)
{
    const struct nuioa_nic *nics = rails->node->nics;
    rails->rated = true;
    for (unsigned r = 0; r < rails->count; r++) {
        unsigned k = 0;
        while (nics[rails->nic[k]].card != nics[rails->nic[r]].card)
            k++;
        rails->card[r] = k < r ? rails->card[k] : rails->card_count++;
        rails->rated &= nics[rails->nic[r]].rate_mbps > 0;
    }
    for (unsigned r = 0; r < rails->count; r++) {
        double *rate = &rails->rate[rails->card[r]];
        *rate = fmax(*rate, rails->rated ? nics[rails->nic[r]].rate_mbps : 1);
    }
}

/* Chooses the NICs. `taken` and `before` have room for all of the node's. Returns 0 or -EINVAL. */
static int choose(struct nuioa_rails *rails, bool *taken, bool *before,
                  struct nuioa_warnings *warnings, struct nuioa_error *err)
{
    const struct nuioa_node *node = rails->node;
    const struct nuioa_options *o = rails->options;
    int rc = nuioa_nic_select(node, o->nic, o->policy, taken, warnings, err);
    if (rc < 0)
        return rc;
    if (rc > 0) {
        narrow(node, o->policy, taken, before, warnings);
        rails->guessed = nuioa_nic_is_guessed(node, o->nic, o->policy, taken);
        keep_located(node, taken, warnings);
    }
    for (unsigned i = 0; i < node->nic_count; i++)
        if (taken[i])
            rails->nic[rails->count++] = i;
    for (unsigned r = 1; r < rails->count; r++)
        rails->unlike |= !nuioa_nic_same_rate(node->nics[rails->nic[0]].rate_mbps,
                                              node->nics[rails->nic[r]].rate_mbps);
    rails->down = !rails->count && nuioa_nic_is_down(node, o->nic, o->policy);
    rails->located = rails->count && node->nics[rails->nic[0]].level;
    return 0;
}

int nuioa_rails_init(struct nuioa_rails *rails, const struct nuioa_node *node,
                     const struct nuioa_options *options, struct nuioa_warnings *warnings,
                     struct nuioa_error *err)
{
    const size_t n = node->nic_count;
    *rails =
        (struct nuioa_rails){ .node = node, .options = options, .numa_count = node->numa_count };
    bool *taken = nuioa_arena_take(&rails->arena, 2 * n, sizeof(*taken));
    rails->nic = nuioa_arena_take(&rails->arena, n, sizeof(*rails->nic));
    rails->level =
        nuioa_arena_take(&rails->arena, n * (node->numa_count + 1), sizeof(*rails->level));
    rails->card = nuioa_arena_take(&rails->arena, n, sizeof(*rails->card));
    rails->rate = nuioa_arena_take(&rails->arena, n, sizeof(*rails->rate));
    index_cpus(rails);
    int rc = rails->arena.failed ? 0 : choose(rails, taken, taken + n, warnings, err);
    if (rc == 0)
        number_cards(rails);
    if (rails->located) {
        fill_levels(rails);
        fill_prices(rails);
    }
    if (rails->arena.failed)
        rc = nuioa_fail(err, -ENOMEM, "out of memory");
    if (rc < 0)
        nuioa_rails_free(rails);
    return rc;
}

int nuioa_usable_find(struct nuioa_usable *usable, const struct nuioa_rails *rails,
                      struct nuioa_arena *arena)
{
    *usable = (struct nuioa_usable){ .guessed = rails->guessed };
    usable->nics = nuioa_arena_take(arena, rails->count, sizeof(*usable->nics));
    if (!usable->nics)
        return -ENOMEM;
    for (; usable->count < rails->count; usable->count++) {
        usable->nics[usable->count] = rails->nic[usable->count];
        usable->doubted |= rails->node->nics[rails->nic[usable->count]].doubts != 0;
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
    nuioa_arena_free(&rails->arena);
    *rails = (struct nuioa_rails){ 0 };
}

int nuioa_rail_of(const struct nuioa_rails *rails, int32_t nic)
{
    for (unsigned r = 0; nic >= 0 && r < rails->count; r++)
        if (rails->nic[r] == (uint32_t)nic)
            return (int)r;
    return -1;
}

/* Returns the column of a CPU in `level` and `price`. */
static uint32_t column_of(const struct nuioa_rails *rails, unsigned cpu)
{
    return cpu < rails->cpu_count ? rails->numa_of[cpu] : rails->numa_count;
}

uint32_t nuioa_rail_level(const struct nuioa_rails *rails, unsigned rail, hwloc_const_bitmap_t cpus)
{
    if (!rails->located)
        return NUIOA_NO_LEVEL;
    const uint8_t *level = rails->level + (size_t)rail * (rails->numa_count + 1);
    uint32_t worst = 0;
    for (int cpu = hwloc_bitmap_first(cpus); cpu >= 0; cpu = hwloc_bitmap_next(cpus, cpu)) {
        uint32_t here = level[column_of(rails, (unsigned)cpu)];
        if (here > worst)
            worst = here;
    }
    return worst;
}

double nuioa_nic_cost(const struct nuioa_options *options, uint32_t level)
{
    if (level == 0 || level == NUIOA_NO_LEVEL)
        return 1;
    return 1 + options->remote_cost + (level - 1) * options->hop_cost;
}

double nuioa_rail_price(const struct nuioa_rails *rails, unsigned rail, hwloc_const_bitmap_t cpus)
{
    if (!rails->price)
        return nuioa_nic_cost(rails->options, nuioa_rail_level(rails, rail, cpus));
    const double *price = rails->price + (size_t)rail * (rails->numa_count + 1);
    double worst = 1;
    for (int cpu = hwloc_bitmap_first(cpus); cpu >= 0; cpu = hwloc_bitmap_next(cpus, cpu))
        worst = fmax(worst, price[column_of(rails, (unsigned)cpu)]);
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
