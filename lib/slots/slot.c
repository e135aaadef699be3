/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slots/core.h"

int nuioa_slots_reserve(struct nuioa_slots *slots, uint32_t count)
{
    *slots = (struct nuioa_slots){ 0 };
    size_t n = count ? count : 1;
    slots->cpus = calloc(n, sizeof(*slots->cpus));
    slots->nic_cost = calloc(n, sizeof(*slots->nic_cost));
    slots->tie = calloc(n, sizeof(*slots->tie));
    slots->kind = calloc(n, sizeof(*slots->kind));
    slots->domain = calloc(n, sizeof(*slots->domain));
    if (!slots->cpus || !slots->nic_cost || !slots->tie || !slots->kind || !slots->domain)
        return -ENOMEM;
    for (; slots->count < count; slots->count++) {
        slots->cpus[slots->count] = hwloc_bitmap_alloc();
        if (!slots->cpus[slots->count])
            return -ENOMEM;
    }
    return 0;
}

void nuioa_slots_free(struct nuioa_slots *slots)
{
    for (uint32_t i = 0; i < slots->count; i++)
        hwloc_bitmap_free(slots->cpus[i]);
    free(slots->cpus);
    free(slots->nic_cost);
    free(slots->tie);
    free(slots->kind);
    free(slots->domain);
    free(slots->domain_cost);
    *slots = (struct nuioa_slots){ 0 };
}

int nuioa_slots_keep(struct nuioa_slots *slots, const struct nuioa_request *request)
{
    int rc = nuioa_slots_reserve(slots, request->task_count);
    for (uint32_t i = 0; rc == 0 && i < request->task_count; i++)
        if (hwloc_bitmap_copy(slots->cpus[i], request->tasks[i].cpus) < 0)
            rc = -ENOMEM;
    return rc;
}

const struct nuioa_pu *nuioa_first_pu(const struct nuioa_node *node, hwloc_const_bitmap_t cpus)
{
    for (uint32_t i = 0; i < node->pu_count; i++)
        if (hwloc_bitmap_isset(cpus, node->pus[i].os_index))
            return &node->pus[i];
    return NULL;
}

static double numa_cost(const struct nuioa_node *node, int32_t a, int32_t b)
{
    if (a < 0 || b < 0 || !node->distance.count)
        return 1;
    return (nuioa_distance_at(&node->distance, a, b) + nuioa_distance_at(&node->distance, b, a)) /
           20.0;
}

struct nuioa_location nuioa_location_of(const struct nuioa_node *node, hwloc_const_bitmap_t cpus)
{
    const struct nuioa_pu *pu = nuioa_first_pu(node, cpus);
    return (struct nuioa_location){ cpus, pu, pu && !nuioa_in_one_numa(node, pu, cpus) };
}

/* Returns the mean cost over all pairs of NUMA nodes that the two sets of CPUs cover. */
static double wide_cost(const struct nuioa_node *node, hwloc_const_bitmap_t a,
                        hwloc_const_bitmap_t b)
{
    double sum = 0;
    unsigned pairs = 0;
    for (uint32_t i = 0; i < node->numa_count; i++)
        for (uint32_t j = 0;
             hwloc_bitmap_intersects(a, node->numas[i].cpus) && j < node->numa_count; j++)
            if (hwloc_bitmap_intersects(b, node->numas[j].cpus)) {
                sum += numa_cost(node, i, j);
                pairs++;
            }
    return pairs ? sum / pairs : 1;
}

bool nuioa_in_one_numa(const struct nuioa_node *node, const struct nuioa_pu *pu,
                       hwloc_const_bitmap_t cpus)
{
    return pu->numa < 0 || hwloc_bitmap_isincluded(cpus, node->numas[pu->numa].cpus);
}

double nuioa_location_cost(const struct nuioa_node *node, const struct nuioa_location *a,
                           const struct nuioa_location *b)
{
    const struct nuioa_pu *x = a->pu, *y = b->pu;
    if (!x || !y)
        return 1;
    if (a->wide || b->wide)
        return wide_cost(node, a->cpus, b->cpus);
    if (x->numa != y->numa)
        return numa_cost(node, x->numa, y->numa);
    if (x->package != y->package)
        return 1.2;
    if (x->core == y->core)
        return 0.4;
    if (x->l2 == y->l2)
        return 0.6;
    return x->l3 == y->l3 ? 0.8 : 1.0;
}

/* The smallest unit that a slot shares with another slot. Two slots with equal keys have equal
 * neighbour costs to all others: they are of one domain. */
struct key {
    uint32_t unit; /* 0: core; 1: L2; 2: L3; 3: NUMA node and package; 4: it shares none */
    uint32_t id, package;
    int32_t numa;
};

static struct key key_at(const struct nuioa_node *node, const struct nuioa_slots *slots,
                         uint32_t slot, uint32_t unit)
{
    const struct nuioa_pu *pu = nuioa_first_pu(node, slots->cpus[slot]);
    if (!pu || unit == 4 || !nuioa_in_one_numa(node, pu, slots->cpus[slot]))
        return (struct key){ 4, slot, 0, 0 };
    uint32_t id = unit == 0 ? pu->core : unit == 1 ? pu->l2 : unit == 2 ? pu->l3 : 0;
    return (struct key){ unit, id, pu->package, pu->numa };
}

static bool same_key(const struct key *a, const struct key *b)
{
    return a->unit == b->unit && a->id == b->id && a->package == b->package && a->numa == b->numa;
}

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct key));
}

/* Finds for each slot the smallest unit that has another slot too. */
static int find_keys(const struct nuioa_node *node, const struct nuioa_slots *slots,
                     struct key *keys)
{
    struct key *sorted = malloc(slots->count * sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < slots->count; i++)
        keys[i] = key_at(node, slots, i, 4);
    for (uint32_t unit = 0; unit < 4; unit++) {
        for (uint32_t i = 0; i < slots->count; i++)
            sorted[i] = key_at(node, slots, i, unit);
        qsort(sorted, slots->count, sizeof(*sorted), by_key);
        for (uint32_t i = 0; i < slots->count; i++) {
            struct key key = key_at(node, slots, i, unit);
            const struct key *hit = bsearch(&key, sorted, slots->count, sizeof(*sorted), by_key);
            bool shared = hit && ((hit > sorted && same_key(hit - 1, &key)) ||
                                  (hit + 1 < sorted + slots->count && same_key(hit + 1, &key)));
            if (keys[i].unit == 4 && key.unit != 4 && shared)
                keys[i] = key;
        }
    }
    free(sorted);
    return 0;
}

/* Numbers the domains, and computes the cost between each two from one slot of each; inside one
 * domain, from two of its slots. */
static int price_domains(struct nuioa_slots *slots, const struct nuioa_node *node)
{
    uint32_t n = slots->count, domains = 0;
    struct key *keys = malloc(n * sizeof(*keys));
    uint32_t(*members)[2] = malloc(n * sizeof(*members));
    struct nuioa_location *locations = malloc(n * sizeof(*locations));
    int rc = keys && members && locations ? find_keys(node, slots, keys) : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        locations[i] = nuioa_location_of(node, slots->cpus[i]);
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        uint32_t d = 0;
        while (d < domains && !same_key(&keys[members[d][0]], &keys[i]))
            d++;
        members[d][d == domains ? 0 : 1] = i;
        if (d == domains)
            members[domains++][1] = i;
        slots->domain[i] = d;
    }
    if (rc == 0) {
        slots->domain_count = domains;
        free(slots->domain_cost);
        slots->domain_cost = malloc((size_t)domains * domains * sizeof(*slots->domain_cost));
        rc = slots->domain_cost ? 0 : -ENOMEM;
    }
    for (uint32_t a = 0; rc == 0 && a < domains; a++)
        for (uint32_t b = 0; b < domains; b++)
            slots->domain_cost[(size_t)a * domains + b] = nuioa_location_cost(
                node, &locations[members[a][0]], &locations[members[b][a == b]]);
    free(keys);
    free(locations);
    free(members);
    return rc;
}

int nuioa_slots_price(struct nuioa_slots *slots, const struct nuioa_basis *basis)
{
    const struct nuioa_request *request = basis->request;
    for (uint32_t i = 0; i < slots->count; i++) {
        slots->nic_cost[i] = nuioa_rails_price(&basis->rails, slots->cpus[i]);
        slots->tie[i] = nuioa_rails_tie(&basis->rails, slots->cpus[i]);
        slots->kind[i] = (uint32_t)hwloc_bitmap_weight(slots->cpus[i]) << 16 |
                         nuioa_core_count(request->node, slots->cpus[i]);
    }
    return request->pair_count ? price_domains(slots, request->node) : 0;
}

void nuioa_slots_find_parts(struct nuioa_slots *s, uint32_t count, const struct nuioa_node *node)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sharers = 1, first = 0;
        while (first < i && !hwloc_bitmap_isequal(s->cpus[i], s->cpus[first]))
            first++;
        for (uint32_t k = i + 1; first == i && k < count; k++)
            sharers += hwloc_bitmap_isequal(s->cpus[i], s->cpus[k]);
        if (first < i)
            s->kind[i] = s->kind[first];
        else if (sharers > 1)
            s->kind[i] = (uint32_t)hwloc_bitmap_weight(s->cpus[i]) / sharers << 16 |
                         nuioa_core_count(node, s->cpus[i]) / sharers;
    }
}

static bool interchangeable(const struct nuioa_slots *s, const uint64_t *near, uint32_t a,
                            uint32_t b)
{
    return s->nic_cost[a] == s->nic_cost[b] && s->tie[a] == s->tie[b] &&
           s->domain[a] == s->domain[b] && s->kind[a] == s->kind[b] &&
           (!near || near[a] == near[b]);
}

int nuioa_slots_keep_equal(const struct nuioa_slots *slots, const uint64_t *near, uint32_t *slot_of,
                           uint32_t task_count)
{
    uint32_t *task_in = malloc(slots->count * sizeof(*task_in));
    if (!task_in)
        return -ENOMEM;
    for (uint32_t s = 0; s < slots->count; s++)
        task_in[s] = UINT32_MAX;
    for (uint32_t i = 0; i < task_count; i++)
        task_in[slot_of[i]] = i;
    for (uint32_t i = 0; i < task_count; i++) {
        uint32_t got = slot_of[i], other = task_in[i];
        if (got == i || !interchangeable(slots, near, got, i))
            continue;
        slot_of[i] = i;
        task_in[i] = i;
        task_in[got] = other;
        if (other != UINT32_MAX)
            slot_of[other] = got;
    }
    free(task_in);
    return 0;
}
