/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/rail_balance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A move is worth it from here on: what a card gets less of. Weights are seldom more exact. */
#define WORTH 0.10

/* Swaps looked at, and ranks whose part of J elsewhere is computed: below 10 ms with 512 ranks, and
 * the same on every machine. */
#define LOOKS_MAX 2000000
#define COSTS_MAX 40000

struct balance {
    const struct nuioa_request *request;
    const struct nuioa_slots *slots;
    uint32_t *slot_of;
    unsigned cards;
    double *share;             /* [slots * cards]: of a rank's traffic, by the card's rate */
    double *load;              /* [cards] */
    double *trial;             /* [cards]: after a swap, or before several */
    uint32_t *first, *partner; /* task i has pairs[partner[first[i] .. first[i + 1] - 1]] */
    bool *stuck;               /* [tasks]: cannot go elsewhere even with its neighbours */
    bool *gone;                /* [tasks]: by the exchange that is being tried */
    uint32_t *back;            /* [tasks]: slots before it */
    uint32_t looks, costs;
};

static void balance_free(struct balance *b)
{
    free(b->share);
    free(b->load);
    free(b->trial);
    free(b->first);
    free(b->partner);
    free(b->stuck);
    free(b->gone);
    free(b->back);
}

/* The cards of the rails, numbered; two ports of one are one. */
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

/* Ranks spread evenly over the rails nearest to them. Rates count where all are known. */
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
    b->gone = calloc(r->task_count, sizeof(*b->gone));
    b->back = calloc(r->task_count, sizeof(*b->back));
    if (!b->first || !b->partner || !b->stuck || !b->gone || !b->back)
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

/* What the pairs of task i cost more once it is in `slot`, those with task `except` aside. */
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

/* By how much J rises if i and k change places. They stay as far from each other as before. */
static double swap_rise(struct balance *b, uint32_t i, uint32_t k)
{
    if (!b->request->pair_count)
        return 0;
    return pairs_rise(b, i, b->slot_of[k], k) + pairs_rise(b, k, b->slot_of[i], i);
}

static bool exchangeable(const struct balance *b, uint32_t i, uint32_t k)
{
    uint32_t x = b->slot_of[i], y = b->slot_of[k];
    const struct nuioa_slots *s = b->slots;
    return s->nic_cost[x] == s->nic_cost[y] && s->tie[x] == s->tie[y] && s->kind[x] == s->kind[y] &&
           memcmp(b->share + (size_t)x * b->cards, b->share + (size_t)y * b->cards,
                  b->cards * sizeof(*b->share));
}

/* By how much the squares of the loads fall; 0: not worth it. */
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
    return after <= (1 - WORTH) * before ? squares : 0;
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
    return b->looks > LOOKS_MAX || b->costs > COSTS_MAX;
}

/* True if i, with `mine` of its traffic on the card, and k, lighter and with less there, could
 * change places. */
static bool candidate(struct balance *b, uint32_t i, uint32_t k, unsigned card, double mine)
{
    const struct nuioa_task *tasks = b->request->tasks;
    b->looks++;
    return tasks[k].weight < tasks[i].weight &&
           b->share[(size_t)b->slot_of[k] * b->cards + card] < mine && exchangeable(b, i, k);
}

/* The best swap of a rank that uses this card for a lighter one that uses it less. */
static bool relieve(struct balance *b, unsigned card)
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

/* Where that would tear neighbours apart, they go along. */

/* Two slots between which nobody could tell a difference. */
static bool beside(const struct balance *b, uint32_t x, uint32_t y)
{
    const struct nuioa_slots *s = b->slots;
    return s->domain[x] == s->domain[y] && s->nic_cost[x] == s->nic_cost[y] &&
           s->tie[x] == s->tie[y] && s->kind[x] == s->kind[y] &&
           !memcmp(b->share + (size_t)x * b->cards, b->share + (size_t)y * b->cards,
                   b->cards * sizeof(*b->share));
}

/* Of those still beside `from`, the one who costs least in `to`; task_count: none. */
static uint32_t readiest(struct balance *b, uint32_t from, uint32_t to, uint32_t except)
{
    uint32_t best = b->request->task_count;
    double least = 0;
    for (uint32_t t = 0; t < b->request->task_count; t++) {
        if (b->gone[t] || !beside(b, b->slot_of[t], from))
            continue;
        double rise = pairs_rise(b, t, to, except);
        if (best == b->request->task_count || rise < least) {
            least = rise;
            best = t;
        }
    }
    return best;
}

/* Swaps i and k, then one after the other those who mind least, as Kernighan and Lin do, until J is
 * no higher than before and the cards are relieved; else all return. */
static bool swap_along(struct balance *b, uint32_t i, uint32_t k)
{
    uint32_t n = b->request->task_count, from = b->slot_of[i], to = b->slot_of[k];
    double rise = 0, torn = swap_rise(b, i, k);
    memset(b->gone, 0, n * sizeof(*b->gone));
    memcpy(b->back, b->slot_of, n * sizeof(*b->back));
    memcpy(b->trial, b->load, b->cards * sizeof(*b->trial));
    while (i < n && k < n && !exhausted(b)) {
        rise += swap_rise(b, i, k);
        swap(b, i, k);
        b->gone[i] = b->gone[k] = true;
        if (rise <= 1e-12 * torn && relief(b->trial, b->load, b->cards) > 0)
            return true;
        i = readiest(b, from, to, UINT32_MAX);
        k = i < n ? readiest(b, to, from, i) : n;
    }
    memcpy(b->slot_of, b->back, n * sizeof(*b->back));
    memcpy(b->load, b->trial, b->cards * sizeof(*b->trial));
    return false;
}

/* Whom i could best change places with; task_count: nobody. */
static uint32_t least_torn(struct balance *b, uint32_t i, unsigned card)
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

/* The heaviest that can leave the card with its neighbours. */
static bool relieve_along(struct balance *b, unsigned card)
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
        uint32_t k = least_torn(b, i, card);
        if (k < n && swap_along(b, i, k))
            return true;
        b->stuck[i] = true;
    }
    return false;
}

/* The busiest card that can be relieved. */
static bool relieve_one(struct balance *b)
{
    bool tried[64] = { false };
    for (unsigned round = 0; round < b->cards; round++) {
        unsigned busiest = b->cards;
        for (unsigned c = 0; c < b->cards; c++)
            if (!tried[c] && (busiest == b->cards || b->load[c] > b->load[busiest]))
                busiest = c;
        tried[busiest] = true;
        if (relieve(b, busiest) || relieve_along(b, busiest))
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
