/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/rail_load.h"

#include <errno.h>
#include <math.h>

#include "nics/rail_assign.h"

/* Returns the number of cards; 0 if J has no load, because there are fewer than two, or more than
 * the mappers can tell apart. */
static uint32_t cards_in(const struct nuioa_rails *rails)
{
    return rails->card_count > 1 && rails->card_count <= NUIOA_CARDS_MAX ? rails->card_count : 0;
}

/* Sets part[card] to the card's part of the sum of all rates. */
static void find_parts(const struct nuioa_rails *rails, double *part)
{
    double sum = 0;
    for (uint32_t c = 0; c < rails->card_count; c++)
        sum += rails->rate[c];
    for (uint32_t c = 0; c < rails->card_count; c++)
        part[c] = rails->rate[c] / sum;
}

static double rate_of(const struct nuioa_rails *rails, uint32_t nic)
{
    return rails->rated ? rails->node->nics[nic].rate_mbps : 1;
}

/* Adds the weight of one rank to weight[card]. With rails=auto a rank without GPUs counts for its
 * first NIC alone, as for the mappers: few MPI libraries use several well. Else the weight is
 * divided among its NICs by rate. */
static void add_rank(const struct nuioa_rails *rails, const struct nuioa_assignment *assignment,
                     double *weight)
{
    const uint32_t *nics = assignment->nics;
    bool first = !rails->options->rails && !assignment->gpu_count;
    uint32_t count = first && assignment->nic_count ? 1 : assignment->nic_count;
    double sum = 0;
    for (uint32_t k = 0; k < count; k++)
        sum += rate_of(rails, nics[k]);
    for (uint32_t k = 0; k < count; k++)
        weight[rails->card[nuioa_rail_of(rails, (int32_t)nics[k])]] +=
            assignment->weight * rate_of(rails, nics[k]) / sum;
}

int nuioa_rail_load_on(const struct nuioa_basis *basis, const struct nuioa_assignment *placed,
                       struct nuioa_load_term *term)
{
    const struct nuioa_request *r = basis->request;
    const uint32_t cards = cards_in(&basis->rails);
    double part[NUIOA_CARDS_MAX], weight[NUIOA_CARDS_MAX] = { 0 }, sum = 0, most = 0;
    *term = (struct nuioa_load_term){ 0, 0 };
    if (!cards)
        return 0;
    struct nuioa_assignment *list = nuioa_rails_assign_all(&basis->rails, r, placed, basis->arena);
    if (!list)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->task_count; i++)
        add_rank(&basis->rails, &list[i], weight);
    find_parts(&basis->rails, part);
    for (uint32_t c = 0; c < cards; c++) {
        sum += weight[c];
        most = fmax(most, weight[c] / part[c]);
    }
    most = fmax(most, sum); /* it is lower by rounding only */
    if (sum > 0)
        *term = (struct nuioa_load_term){ most / sum, r->options->load_cost * (most - sum) };
    return 0;
}

/* --- for the mappers -------------------------------------------------------------------------- */

/* Returns the cards of the rails that are nearest to `cpus`, a bit for each; with rails=K a rank
 * has farther ones, too, and any card may be among them. */
static uint64_t find_near(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus)
{
    uint64_t near = 0;
    uint32_t best = UINT32_MAX;
    for (unsigned r = 0; r < rails->count; r++) {
        uint32_t here = rails->options->rails > 1 ? 0 : nuioa_rail_distance(rails, cpus, r);
        near = (here < best ? 0 : near) | (uint64_t)(here <= best) << rails->card[r];
        best = here < best ? here : best;
    }
    return near;
}

/* Writes the local ranks to order[task_count], the heaviest first, and of equal ones the lowest. */
static void sort_ranks(const struct nuioa_request *r, uint32_t *order)
{
    const struct nuioa_task *tasks = r->tasks;
    for (uint32_t i = 0; i < r->task_count; i++) {
        uint32_t before = 0;
        for (uint32_t k = 0; k < r->task_count; k++)
            before +=
                k < i ? tasks[k].weight >= tasks[i].weight : tasks[k].weight > tasks[i].weight;
        order[before] = i;
    }
}

/* Sets weight[task], and adds to fixed[card] the tasks whose NICs do not follow from their
 * slots. */
static int find_weights(const struct nuioa_basis *basis, double *weight, double *fixed)
{
    const struct nuioa_request *request = basis->request;
    struct nuioa_assignment *list = NULL;
    for (uint32_t i = 0; i < request->task_count; i++) {
        weight[i] = request->tasks[i].weight;
        if (!request->tasks[i].gpu_count)
            continue;
        if (!list && !(list = nuioa_rails_assign_all(&basis->rails, request, NULL, basis->arena)))
            return -ENOMEM;
        weight[i] = 0;
        add_rank(&basis->rails, &list[i], fixed);
    }
    return 0;
}

int nuioa_rail_load_make(struct nuioa_load *load, const struct nuioa_basis *basis,
                         const struct nuioa_slots *slots)
{
    const struct nuioa_request *r = basis->request;
    struct nuioa_arena *arena = basis->arena;
    const uint32_t cards = cards_in(&basis->rails);
    *load = (struct nuioa_load){ 0 };
    if (!cards)
        return 0;
    double *part = nuioa_arena_take(arena, cards, sizeof(*part));
    double *fixed = nuioa_arena_take(arena, cards, sizeof(*fixed));
    double *weight = nuioa_arena_take(arena, r->task_count, sizeof(*weight));
    uint64_t *near = nuioa_arena_take(arena, slots->count, sizeof(*near));
    uint32_t *order = nuioa_arena_take(arena, r->task_count, sizeof(*order));
    if (arena->failed)
        return -ENOMEM;
    sort_ranks(r, order);
    find_parts(&basis->rails, part);
    for (uint32_t s = 0; s < slots->count; s++)
        near[s] = find_near(&basis->rails, slots->cpus[s]);
    *load = (struct nuioa_load){
        .price = r->options->load_cost,
        .card_count = cards,
        .part = part,
        .near = near,
        .weight = weight,
        .order = order,
        .fixed = fixed,
    };
    return find_weights(basis, weight, fixed);
}
