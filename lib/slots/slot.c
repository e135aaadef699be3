/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/slot.h"

#include <errno.h>

#include "slots/core.h"

int nuioa_slots_keep(struct nuioa_slots *slots, const struct nuioa_basis *basis, uint32_t more)
{
    const struct nuioa_request *request = basis->request;
    struct nuioa_arena *arena = basis->arena;
    const size_t n = (size_t)request->task_count + more;
    *slots = (struct nuioa_slots){ .count = request->task_count };
    slots->cpus = nuioa_arena_take(arena, n, sizeof(hwloc_bitmap_t));
    slots->nic_cost = nuioa_arena_take(arena, n, sizeof(*slots->nic_cost));
    slots->tie = nuioa_arena_take(arena, n, sizeof(*slots->tie));
    slots->kind = nuioa_arena_take(arena, n, sizeof(*slots->kind));
    slots->domain = nuioa_arena_take(arena, n, sizeof(*slots->domain));
    for (uint32_t i = 0; !arena->failed && i < slots->count; i++)
        slots->cpus[i] = nuioa_arena_bitmap(arena, request->tasks[i].cpus);
    return arena->failed ? -ENOMEM : 0;
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
    bool wide = pu && pu->numa >= 0 && !hwloc_bitmap_isincluded(cpus, node->numas[pu->numa].cpus);
    return (struct nuioa_location){ cpus, pu, wide };
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

bool nuioa_same_numas(const struct nuioa_node *node, hwloc_const_bitmap_t a, hwloc_const_bitmap_t b,
                      bool *meet)
{
    bool same = true;
    *meet = false;
    for (uint32_t i = 0; i < node->numa_count; i++) {
        bool in_a = hwloc_bitmap_intersects(a, node->numas[i].cpus);
        bool in_b = hwloc_bitmap_intersects(b, node->numas[i].cpus);
        same &= in_a == in_b;
        *meet |= in_a && in_b;
    }
    return same;
}

/* The units that two locations can share. */
enum unit { UNIT_CORE, UNIT_L2, UNIT_L3, UNIT_NUMA, UNIT_NONE };

/* Returns the smallest unit that both share; UNIT_NUMA is a NUMA node in one package. */
static enum unit shared_unit(const struct nuioa_location *a, const struct nuioa_location *b)
{
    const struct nuioa_pu *x = a->pu, *y = b->pu;
    if (!x || !y || a->wide || b->wide || x->numa != y->numa || x->package != y->package)
        return UNIT_NONE;
    return x->core == y->core ? UNIT_CORE
           : x->l2 == y->l2   ? UNIT_L2
           : x->l3 == y->l3   ? UNIT_L3
                              : UNIT_NUMA;
}

double nuioa_location_cost(const struct nuioa_node *node, const struct nuioa_location *a,
                           const struct nuioa_location *b)
{
    static const double costs[] = { 0.4, 0.6, 0.8, 1.0, 1.2 };
    if (!a->pu || !b->pu)
        return 1;
    if (a->wide || b->wide)
        return wide_cost(node, a->cpus, b->cpus);
    return a->pu->numa != b->pu->numa ? numa_cost(node, a->pu->numa, b->pu->numa)
                                      : costs[shared_unit(a, b)];
}

/* Numbers the domains: two slots have equal costs to all others if the smallest unit that one
 * shares with another slot is that of the other one, too. Writes two slots of each domain to
 * members[slots->count], which are equal if it has only one. */
static void find_domains(struct nuioa_slots *slots, const struct nuioa_location *at,
                         enum unit *smallest, uint32_t (*members)[2])
{
    for (uint32_t i = 0; i < slots->count; i++) {
        smallest[i] = UNIT_NONE;
        for (uint32_t k = 0; k < slots->count; k++)
            if (k != i && shared_unit(&at[i], &at[k]) < smallest[i])
                smallest[i] = shared_unit(&at[i], &at[k]);
    }
    slots->domain_count = 0;
    for (uint32_t i = 0; i < slots->count; i++) {
        uint32_t d = 0;
        for (uint32_t k; d < slots->domain_count; d++) {
            k = members[d][0];
            if (smallest[i] != UNIT_NONE && smallest[k] == smallest[i] &&
                shared_unit(&at[i], &at[k]) == smallest[i])
                break;
        }
        if (d == slots->domain_count)
            members[slots->domain_count++][0] = i;
        members[d][1] = i;
        slots->domain[i] = d;
    }
}

/* Finds the domains and computes the cost between each two from one slot of each; inside one
 * domain, from two of its slots. */
static int price_domains(struct nuioa_slots *slots, const struct nuioa_basis *basis)
{
    const struct nuioa_node *node = basis->request->node;
    const uint32_t n = slots->count;
    uint32_t(*members)[2] = nuioa_arena_take(basis->arena, n, sizeof(*members));
    enum unit *smallest = nuioa_arena_take(basis->arena, n, sizeof(*smallest));
    struct nuioa_location *at = nuioa_arena_take(basis->arena, n, sizeof(*at));
    if (basis->arena->failed)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        at[i] = nuioa_location_of(node, slots->cpus[i]);
    find_domains(slots, at, smallest, members);
    const size_t domains = slots->domain_count;
    slots->domain_cost = nuioa_arena_take(basis->arena, domains * domains, sizeof(double));
    for (uint32_t a = 0; slots->domain_cost && a < domains; a++)
        for (uint32_t b = 0; b < domains; b++)
            slots->domain_cost[a * domains + b] =
                nuioa_location_cost(node, &at[members[a][0]], &at[members[b][a == b]]);
    return slots->domain_cost ? 0 : -ENOMEM;
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
    return request->pair_count ? price_domains(slots, basis) : 0;
}

void nuioa_slots_find_parts(struct nuioa_slots *s, uint32_t count)
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
            s->kind[i] ^= ((s->kind[i] >> 16) / sharers + 1) << 24;
    }
}

static bool interchangeable(const struct nuioa_slots *s, const uint64_t *near, uint32_t a,
                            uint32_t b)
{
    return s->nic_cost[a] == s->nic_cost[b] && s->tie[a] == s->tie[b] &&
           s->domain[a] == s->domain[b] && s->kind[a] == s->kind[b] &&
           (!near || near[a] == near[b]);
}

int nuioa_slots_keep_equal(const struct nuioa_slots *slots, const struct nuioa_basis *basis,
                           const uint64_t *near, uint32_t *slot_of)
{
    const uint32_t task_count = basis->request->task_count;
    uint32_t *task_in = nuioa_arena_take(basis->arena, slots->count, sizeof(*task_in));
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
    return 0;
}
