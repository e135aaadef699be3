/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/rail_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nics/rail_assign.h"

/* The cards of the rails. */
struct cards {
    unsigned count;
    unsigned number[NUIOA_CARDS_MAX]; /* [count]: nic->card */
    double part[NUIOA_CARDS_MAX];     /* [count]: the card's part of the sum of all rates */
    bool rated;                       /* all rates are known */
};

static unsigned card_of(const struct cards *cards, const struct nuioa_nic *nic)
{
    unsigned c = 0;
    while (c < cards->count && cards->number[c] != (unsigned)nic->card)
        c++;
    return c;
}

static double rate_of(const struct cards *cards, const struct nuioa_nic *nic)
{
    return cards->rated ? nic->rate_mbps : 1;
}

/* Returns the cards; there are none if J has no load, because there are fewer than two cards, or
 * more than the mappers can tell apart. */
static struct cards find_cards(const struct nuioa_rails *rails)
{
    const struct nuioa_node *node = rails->node;
    struct cards cards = { .rated = true };
    double sum = 0;
    for (unsigned r = 0; r < rails->count; r++)
        cards.rated &= node->nics[rails->nic[r]].rate_mbps > 0;
    for (unsigned r = 0; r < rails->count; r++) {
        const struct nuioa_nic *nic = &node->nics[rails->nic[r]];
        unsigned c = card_of(&cards, nic);
        if (c == NUIOA_CARDS_MAX)
            return (struct cards){ 0 };
        if (c == cards.count)
            cards.number[cards.count++] = (unsigned)nic->card;
        if (rate_of(&cards, nic) > cards.part[c])
            cards.part[c] = rate_of(&cards, nic);
    }
    if (cards.count < 2)
        return (struct cards){ 0 };
    for (unsigned c = 0; c < cards.count; c++)
        sum += cards.part[c];
    for (unsigned c = 0; c < cards.count; c++)
        cards.part[c] /= sum;
    return cards;
}

/* Adds the weight of one rank to weight[card], divided among its NICs by rate. */
static void add_rank(const struct cards *cards, const struct nuioa_node *node,
                     const struct nuioa_assignment *assignment, double *weight)
{
    const uint32_t first = (uint32_t)assignment->nic;
    const uint32_t *nics = assignment->nic_count ? assignment->nics : &first;
    uint32_t count = assignment->nic_count ? assignment->nic_count : assignment->nic >= 0;
    double sum = 0;
    for (uint32_t k = 0; k < count; k++)
        sum += rate_of(cards, &node->nics[nics[k]]);
    for (uint32_t k = 0; k < count; k++)
        weight[card_of(cards, &node->nics[nics[k]])] +=
            assignment->weight * rate_of(cards, &node->nics[nics[k]]) / sum;
}

/* Returns the load of the ranks' NICs: assignments[task_count]. */
static struct nuioa_load_term load_of(const struct cards *cards,
                                      const struct nuioa_request *request,
                                      const struct nuioa_assignment *assignments)
{
    double weight[NUIOA_CARDS_MAX + 1] = { 0 }, sum = 0, most = 0;
    for (uint32_t i = 0; i < request->task_count; i++)
        add_rank(cards, request->node, &assignments[i], weight);
    for (unsigned c = 0; c < cards->count; c++) {
        sum += weight[c];
        most = weight[c] / cards->part[c] > most ? weight[c] / cards->part[c] : most;
    }
    if (sum <= 0)
        return (struct nuioa_load_term){ 0, 0 };
    most = most > sum ? most : sum; /* it is lower by rounding only */
    return (struct nuioa_load_term){ most / sum, request->options->load_cost * (most - sum) };
}

int nuioa_rail_load_on(const struct nuioa_basis *basis, const hwloc_const_bitmap_t *cpus,
                       struct nuioa_load_term *term)
{
    struct cards cards = find_cards(&basis->rails);
    *term = (struct nuioa_load_term){ 0, 0 };
    if (!cards.count)
        return 0;
    struct nuioa_assignment *list = nuioa_rails_assign_all(&basis->rails, basis->request, cpus);
    if (!list)
        return -ENOMEM;
    *term = load_of(&cards, basis->request, list);
    nuioa_assignments_free(list, basis->request->task_count);
    return 0;
}

/* --- for the mappers -------------------------------------------------------------------------- */

/* Sets near[slot_count]: the cards of the rails that are nearest to each slot; with rails=K a rank
 * has farther ones, too, and any card may be among them. Returns 0 or -ENOMEM. */
static int find_near(const struct cards *cards, const struct nuioa_rails *rails,
                     const struct nuioa_slots *slots, uint64_t *near)
{
    const struct nuioa_node *node = rails->node;
    bool *is_near = malloc(rails->count * sizeof(*is_near));
    for (uint32_t s = 0; is_near && s < slots->count; s++) {
        nuioa_rails_near(rails, slots->cpus[s], is_near);
        for (unsigned r = 0; r < rails->count; r++)
            if (is_near[r] || rails->options->rails > 1)
                near[s] |= UINT64_C(1) << card_of(cards, &node->nics[rails->nic[r]]);
    }
    free(is_near);
    return is_near ? 0 : -ENOMEM;
}

struct rank {
    uint32_t task;
    double weight;
};

static int heavier_first(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* Sets order[task_count]: the tasks by descending weight. Returns 0 or -ENOMEM. */
static int find_order(const struct nuioa_request *request, uint32_t *order)
{
    struct rank *ranks = malloc(request->task_count * sizeof(*ranks));
    for (uint32_t i = 0; ranks && i < request->task_count; i++)
        ranks[i] = (struct rank){ i, request->tasks[i].weight };
    if (ranks)
        qsort(ranks, request->task_count, sizeof(*ranks), heavier_first);
    for (uint32_t i = 0; ranks && i < request->task_count; i++)
        order[i] = ranks[i].task;
    free(ranks);
    return ranks ? 0 : -ENOMEM;
}

/* Sets weight[task], and adds to fixed[card] the tasks whose NICs do not follow from their
 * slots. */
static int find_weights(const struct cards *cards, const struct nuioa_basis *basis, double *weight,
                        double *fixed)
{
    const struct nuioa_request *request = basis->request;
    struct nuioa_assignment *list = NULL;
    for (uint32_t i = 0; i < request->task_count; i++) {
        weight[i] = request->tasks[i].weight;
        if (!request->tasks[i].gpu_count)
            continue;
        if (!list && !(list = nuioa_rails_assign_all(&basis->rails, request, NULL)))
            return -ENOMEM;
        weight[i] = 0;
        add_rank(cards, request->node, &list[i], fixed);
    }
    if (list)
        nuioa_assignments_free(list, request->task_count);
    return 0;
}

int nuioa_rail_load_make(struct nuioa_load *load, const struct nuioa_basis *basis,
                         const struct nuioa_slots *slots)
{
    const struct nuioa_request *request = basis->request;
    struct cards cards = find_cards(&basis->rails);
    *load = (struct nuioa_load){ 0 };
    if (!cards.count)
        return 0;
    double *part = calloc(2 * (size_t)cards.count + request->task_count, sizeof(*part));
    uint64_t *near = calloc(slots->count, sizeof(*near));
    uint32_t *order = calloc(request->task_count, sizeof(*order));
    *load = (struct nuioa_load){
        .price = request->options->load_cost,
        .card_count = cards.count,
        .part = part,
        .near = near,
        .weight = part ? part + 2 * (size_t)cards.count : NULL,
        .order = order,
        .fixed = part ? part + cards.count : NULL,
    };
    if (!part || !near || !order)
        return -ENOMEM;
    memcpy(part, cards.part, cards.count * sizeof(*part));
    int rc = find_near(&cards, &basis->rails, slots, near);
    if (rc == 0)
        rc = find_order(request, order);
    return rc == 0 ? find_weights(&cards, basis, part + 2 * (size_t)cards.count, part + cards.count)
                   : rc;
}

void nuioa_rail_load_free(struct nuioa_load *load)
{
    free((void *)load->part); /* holds fixed and weight too */
    free((void *)load->near);
    free((void *)load->order);
    *load = (struct nuioa_load){ 0 };
}
