/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/rail_balance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The part of its load that a card must lose in an exchange. Weights are seldom more exact. */
#define LEAST_RELIEF 0.10

/* Limits on the work: swaps that are examined, and computations of how J changes for one rank. They
 * keep the time below 10 ms with 512 ranks, and the result equal on every machine. */
#define SWAPS_MAX 2000000
#define COSTS_MAX 40000

struct balance {
    const struct nuioa_request *request;
    const struct nuioa_slots *slots;
    uint32_t *slot_of;
    unsigned cards;
    double *share;             /* [slots * cards]: load of each card by a task of weight 1 */
    double *load;              /* [cards] */
    double *trial;             /* [cards]: scratch: loads after a swap, or before a group */
    uint32_t *first, *partner; /* task i has pairs[partner[first[i]..first[i + 1] - 1]] */
    bool *stuck;               /* [tasks]: no exchange of a group that begins with it helps */
    bool *exchanged;           /* [tasks]: already exchanged in the group being tried */
    uint32_t *slots_before;    /* [tasks]: the slots before that group */
    uint32_t swaps, costs;     /* work done so far */
};

static void balance_free(struct balance *b)
{
    free(b->share);
    free(b->load);
    free(b->trial);
    free(b->first);
    free(b->partner);
    free(b->stuck);
    free(b->exchanged);
    free(b->slots_before);
}

/* Numbers the cards of the rails: card[rail]. Two ports of a card have one number. Returns how many
 * cards there are. */
static unsigned number_cards(const struct nuioa_rails *rails, const struct nuioa_node *node,
                             unsigned *card)
{
    unsigned count = 0;
    for (unsigned r = 0; r < rails->count; r++) {
        unsigned k = 0;
        while (k < r && node->nics[rails->nic[k]].card != node->nics[rails->nic[r]].card)
            k++;
        card[r] = k < r ? card[k] : count++;
    }
    return count;
}

static double mean_weight(const struct nuioa_request *r)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->task_count; i++)
        sum += r->tasks[i].weight;
    return sum / r->task_count;
}

/* Computes `share`, and sets `load` to that of other steps. The traffic of a task is spread evenly
 * over the rails nearest to its slot. Rates count only if all are known. Returns 0 or -ENOMEM. */
static int find_shares(struct balance *b, const struct nuioa_rails *rails)
{
    const struct nuioa_node *node = b->request->node;
    unsigned *card = malloc(rails->count * sizeof(*card));
    bool *near = malloc(rails->count * sizeof(*near)), rated = true;
    int rc = card && near ? 0 : -ENOMEM;
    if (rc == 0) {
        b->cards = number_cards(rails, node, card);
        b->share = calloc((size_t)b->slots->count * b->cards, sizeof(*b->share));
        b->load = calloc(b->cards, sizeof(*b->load));
        b->trial = calloc(b->cards, sizeof(*b->trial));
        rc = b->share && b->load && b->trial ? 0 : -ENOMEM;
    }
    for (unsigned r = 0; rc == 0 && r < rails->count; r++)
        rated &= node->nics[rails->nic[r]].rate_mbps > 0;
    double mean = mean_weight(b->request);
    for (unsigned r = 0; rc == 0 && b->request->nic_ranks && r < rails->count; r++)
        b->load[card[r]] += b->request->nic_ranks[rails->nic[r]] * mean /
                            (rated ? node->nics[rails->nic[r]].rate_mbps : 1);
    for (uint32_t s = 0; rc == 0 && s < b->slots->count; s++) {
        unsigned count = nuioa_rails_near(rails, node, b->slots->cpus[s], near);
        for (unsigned r = 0; r < rails->count; r++)
            if (near[r])
                b->share[(size_t)s * b->cards + card[r]] +=
                    1.0 / count / (rated ? node->nics[rails->nic[r]].rate_mbps : 1);
    }
    free(card);
    free(near);
    return rc;
}

static int index_pairs(struct balance *b)
{
    const struct nuioa_request *r = b->request;
    b->first = calloc((size_t)r->task_count + 2, sizeof(*b->first));
    b->partner = malloc(((size_t)r->pair_count * 2 + 1) * sizeof(*b->partner));
    b->stuck = calloc(r->task_count, sizeof(*b->stuck));
    b->exchanged = calloc(r->task_count, sizeof(*b->exchanged));
    b->slots_before = calloc(r->task_count, sizeof(*b->slots_before));
    if (!b->first || !b->partner || !b->stuck || !b->exchanged || !b->slots_before)
        return -ENOMEM;
    for (uint32_t k = 0; k < r->pair_count; k++) {
        b->first[r->pairs[k].first + 2]++;
        b->first[r->pairs[k].second + 2]++;
    }
    for (uint32_t i = 0; i < r->task_count; i++)
        b->first[i + 2] += b->first[i + 1];
    for (uint32_t k = 0; k < r->pair_count; k++) {
        b->partner[b->first[r->pairs[k].first + 1]++] = k;
        b->partner[b->first[r->pairs[k].second + 1]++] = k;
    }
    return 0;
}

/* Returns by how much the cost of the pairs of task i rises if it moves to `slot`, without its pair
 * with task `except`. */
static double pairs_rise(struct balance *b, uint32_t i, uint32_t slot, uint32_t except)
{
    const struct nuioa_slots *s = b->slots;
    double rise = 0;
    b->costs++;
    for (uint32_t at = b->first[i]; at < b->first[i + 1]; at++) {
        const struct nuioa_pair *pair = &b->request->pairs[b->partner[at]];
        uint32_t other = pair->first == i ? pair->second : pair->first;
        if (other == except)
            continue;
        size_t there = (size_t)s->domain[b->slot_of[other]] * s->domain_count;
        rise += pair->bytes * (s->domain_cost[there + s->domain[slot]] -
                               s->domain_cost[there + s->domain[b->slot_of[i]]]);
    }
    return rise;
}

/* Returns by how much J rises if tasks i and k swap slots. The cost of their own pair stays. */
static double swap_rise(struct balance *b, uint32_t i, uint32_t k)
{
    if (!b->request->pair_count)
        return 0;
    return pairs_rise(b, i, b->slot_of[k], k) + pairs_rise(b, k, b->slot_of[i], i);
}

/* Returns true if tasks i and k could swap slots without a change of their distance to the NICs,
 * but would then use other cards. */
static bool exchangeable(const struct balance *b, uint32_t i, uint32_t k)
{
    uint32_t x = b->slot_of[i], y = b->slot_of[k];
    const struct nuioa_slots *s = b->slots;
    return s->nic_cost[x] == s->nic_cost[y] && s->tie[x] == s->tie[y] && s->kind[x] == s->kind[y] &&
           memcmp(b->share + (size_t)x * b->cards, b->share + (size_t)y * b->cards,
                  b->cards * sizeof(*b->share));
}

/* Returns by how much the sum of the squares of the loads falls, or 0 if the most loaded card does
 * not lose at least LEAST_RELIEF. */
static double relief(const double *load, const double *new_load, unsigned cards)
{
    double before = 0, after = 0, squares = 0;
    for (unsigned c = 0; c < cards; c++) {
        double old = load[c], fresh = new_load[c];
        squares += old * old - fresh * fresh;
        if (old != fresh) {
            before = old > before ? old : before;
            after = fresh > after ? fresh : after;
        }
    }
    return after <= (1 - LEAST_RELIEF) * before ? squares : 0;
}

static void exchange_loads(const struct balance *b, uint32_t i, uint32_t k, double *load)
{
    const double *x = b->share + (size_t)b->slot_of[i] * b->cards;
    const double *y = b->share + (size_t)b->slot_of[k] * b->cards;
    double less = b->request->tasks[i].weight - b->request->tasks[k].weight;
    for (unsigned c = 0; c < b->cards; c++)
        load[c] += less * (y[c] - x[c]);
}

static double swap_relief(struct balance *b, uint32_t i, uint32_t k)
{
    memcpy(b->trial, b->load, b->cards * sizeof(*b->trial));
    exchange_loads(b, i, k, b->trial);
    return relief(b->load, b->trial, b->cards);
}

static void swap(struct balance *b, uint32_t i, uint32_t k)
{
    uint32_t x = b->slot_of[i];
    exchange_loads(b, i, k, b->load);
    b->slot_of[i] = b->slot_of[k];
    b->slot_of[k] = x;
}

static bool exhausted(const struct balance *b)
{
    return b->swaps > SWAPS_MAX || b->costs > COSTS_MAX;
}

/* Returns true if tasks i and k may swap slots to relieve the card: k is lighter and uses the card
 * less than i, whose share of it is `mine`. */
static bool candidate(struct balance *b, uint32_t i, uint32_t k, unsigned card, double mine)
{
    const struct nuioa_task *tasks = b->request->tasks;
    b->swaps++;
    return tasks[k].weight < tasks[i].weight &&
           b->share[(size_t)b->slot_of[k] * b->cards + card] < mine && exchangeable(b, i, k);
}

/* Makes the best swap of a task that uses this card and a lighter task that uses it less. Returns
 * false if there is none. */
static bool relieve_by_swap(struct balance *b, unsigned card)
{
    const struct nuioa_request *r = b->request;
    uint32_t best_i = 0, best_k = 0;
    double best = 0;
    for (uint32_t i = 0; i < r->task_count; i++) {
        double mine = b->share[(size_t)b->slot_of[i] * b->cards + card];
        for (uint32_t k = 0; mine > 0 && k < r->task_count; k++) {
            if (exhausted(b))
                return false;
            if (!candidate(b, i, k, card, mine))
                continue;
            double gain = swap_relief(b, i, k);
            if (gain > best * (1 + 1e-9) && swap_rise(b, i, k) <= 0) {
                best = gain;
                best_i = i;
                best_k = k;
            }
        }
    }
    if (best > 0)
        swap(b, best_i, best_k);
    return best > 0;
}

/* --- exchange of groups, where a single swap would separate neighbours --- */

/* Returns true if two slots are equal for every task. */
static bool equal_slots(const struct balance *b, uint32_t x, uint32_t y)
{
    const struct nuioa_slots *s = b->slots;
    return s->domain[x] == s->domain[y] && s->nic_cost[x] == s->nic_cost[y] &&
           s->tie[x] == s->tie[y] && s->kind[x] == s->kind[y] &&
           !memcmp(b->share + (size_t)x * b->cards, b->share + (size_t)y * b->cards,
                   b->cards * sizeof(*b->share));
}

/* Returns the task, among those not yet exchanged in slots equal to `from`, for which J rises least
 * if it moves to `to`; task_count if there is none. */
static uint32_t least_rise(struct balance *b, uint32_t from, uint32_t to, uint32_t except)
{
    uint32_t best = b->request->task_count;
    double least = 0;
    for (uint32_t t = 0; t < b->request->task_count; t++) {
        if (b->exchanged[t] || !equal_slots(b, b->slot_of[t], from))
            continue;
        double rise = pairs_rise(b, t, to, except);
        if (best == b->request->task_count || rise < least) {
            least = rise;
            best = t;
        }
    }
    return best;
}

/* Swaps tasks i and k, then pairs of tasks for which J rises least (Kernighan-Lin), until J is not
 * higher than before and the cards are relieved. If that fails, all tasks return, and the result is
 * false. */
static bool swap_group(struct balance *b, uint32_t i, uint32_t k)
{
    uint32_t n = b->request->task_count, from = b->slot_of[i], to = b->slot_of[k];
    double rise = 0, first_rise = swap_rise(b, i, k);
    memset(b->exchanged, 0, n * sizeof(*b->exchanged));
    memcpy(b->slots_before, b->slot_of, n * sizeof(*b->slots_before));
    memcpy(b->trial, b->load, b->cards * sizeof(*b->trial));
    while (i < n && k < n && !exhausted(b)) {
        rise += swap_rise(b, i, k);
        swap(b, i, k);
        b->exchanged[i] = b->exchanged[k] = true;
        if (rise <= 1e-12 * first_rise && relief(b->trial, b->load, b->cards) > 0)
            return true;
        i = least_rise(b, from, to, UINT32_MAX);
        k = i < n ? least_rise(b, to, from, i) : n;
    }
    memcpy(b->slot_of, b->slots_before, n * sizeof(*b->slots_before));
    memcpy(b->load, b->trial, b->cards * sizeof(*b->trial));
    return false;
}

/* Returns the task with which a swap of task i relieves the card and raises J least; task_count if
 * there is none. */
static uint32_t best_swap(struct balance *b, uint32_t i, unsigned card)
{
    uint32_t n = b->request->task_count, best = n;
    double mine = b->share[(size_t)b->slot_of[i] * b->cards + card], least = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (!candidate(b, i, k, card, mine) || swap_relief(b, i, k) <= 0)
            continue;
        double rise = swap_rise(b, i, k);
        if (best == n || rise < least) {
            least = rise;
            best = k;
        }
    }
    return best;
}

/* Exchanges a group that begins with the heaviest possible task of this card. Returns false if
 * there is none. */
static bool relieve_by_group(struct balance *b, unsigned card)
{
    const struct nuioa_task *tasks = b->request->tasks;
    uint32_t n = b->request->task_count;
    while (b->request->pair_count && !exhausted(b)) {
        uint32_t i = n;
        for (uint32_t t = 0; t < n; t++)
            if (!b->stuck[t] && b->share[(size_t)b->slot_of[t] * b->cards + card] > 0 &&
                (i == n || tasks[t].weight > tasks[i].weight))
                i = t;
        if (i == n)
            break;
        uint32_t k = best_swap(b, i, card);
        if (k < n && swap_group(b, i, k))
            return true;
        b->stuck[i] = true;
    }
    return false;
}

/* Relieves the most loaded card that can be relieved. Returns false if none can. */
static bool relieve_one(struct balance *b)
{
    bool tried[64] = { false };
    for (unsigned round = 0; round < b->cards; round++) {
        unsigned busiest = b->cards;
        for (unsigned c = 0; c < b->cards; c++)
            if (!tried[c] && (busiest == b->cards || b->load[c] > b->load[busiest]))
                busiest = c;
        tried[busiest] = true;
        if (relieve_by_swap(b, busiest) || relieve_by_group(b, busiest))
            return true;
    }
    return false;
}

int nuioa_rail_balance(const struct nuioa_request *request, const struct nuioa_slots *slots,
                       const struct nuioa_rails *rails, uint32_t *slot_of)
{
    struct balance b = { .request = request, .slots = slots, .slot_of = slot_of };
    int swaps = 0;
    if (!rails->located || rails->count < 2)
        return 0;
    int rc = find_shares(&b, rails);
    if (rc == 0)
        rc = index_pairs(&b);
    for (uint32_t i = 0; rc == 0 && i < request->task_count; i++)
        for (unsigned c = 0; c < b.cards; c++)
            b.load[c] += request->tasks[i].weight * b.share[(size_t)slot_of[i] * b.cards + c];
    while (rc == 0 && b.cards > 1 && b.cards <= 64 && relieve_one(&b))
        swaps++;
    balance_free(&b);
    return rc < 0 ? rc : swaps;
}
