#include "balance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A move is worth it from here on: what a card gets less of. Weights are seldom more exact. */
#define WORTH 0.10

/* Swaps looked at, and those whose J is computed: below 10 ms with 512 ranks, and the same on every
 * machine. */
#define LOOKS_MAX 2000000
#define COSTS_MAX 20000

struct balance {
    const struct nuioa_request *request;
    const struct nuioa_slots *slots;
    uint32_t *slot_of;
    unsigned cards;
    double *share;  /* [slots * cards]: of a rank's traffic, by the card's rate */
    double *load;   /* [cards] */
    uint32_t *first, *partner; /* task i has pairs[partner[first[i] .. first[i + 1] - 1]] */
    uint32_t looks, costs;
};

static void balance_free(struct balance *b)
{
    free(b->share);
    free(b->load);
    free(b->first);
    free(b->partner);
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
        rc = b->share && b->load ? 0 : -ENOMEM;
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
    if (!b->first || !b->partner)
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

/* What the pairs of task i cost more when it changes places with k, whose own are counted
 * likewise. */
static double pairs_rise(const struct balance *b, uint32_t i, uint32_t k)
{
    const struct nuioa_slots *s = b->slots;
    double rise = 0;
    for (uint32_t at = b->first[i]; at < b->first[i + 1]; at++) {
        const struct nuioa_pair *pair = &b->request->pairs[b->partner[at]];
        uint32_t other = pair->first == i ? pair->second : pair->first;
        if (other == k)
            continue; /* as far from each other as before */
        size_t there = (size_t)s->domain[b->slot_of[other]] * s->domain_count;
        rise += pair->bytes * (s->domain_cost[there + s->domain[b->slot_of[k]]] -
                               s->domain_cost[there + s->domain[b->slot_of[i]]]);
    }
    return rise;
}

static bool dearer(struct balance *b, uint32_t i, uint32_t k)
{
    if (!b->request->pair_count)
        return false;
    b->costs++;
    return pairs_rise(b, i, k) + pairs_rise(b, k, i) > 0;
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
static double relief(const struct balance *b, uint32_t i, uint32_t k)
{
    const double *x = b->share + (size_t)b->slot_of[i] * b->cards;
    const double *y = b->share + (size_t)b->slot_of[k] * b->cards;
    double less = b->request->tasks[i].weight - b->request->tasks[k].weight;
    double before = 0, after = 0, squares = 0;
    for (unsigned c = 0; c < b->cards; c++) {
        double old = b->load[c], new = old + less * (y[c] - x[c]);
        squares += old * old - new * new;
        if (x[c] != y[c]) {
            before = old > before ? old : before;
            after = new > after ? new : after;
        }
    }
    return after <= (1 - WORTH) * before ? squares : 0;
}

static void swap(struct balance *b, uint32_t i, uint32_t k)
{
    uint32_t x = b->slot_of[i], y = b->slot_of[k];
    double less = b->request->tasks[i].weight - b->request->tasks[k].weight;
    for (unsigned c = 0; c < b->cards; c++)
        b->load[c] += less * (b->share[(size_t)y * b->cards + c] -
                              b->share[(size_t)x * b->cards + c]);
    b->slot_of[i] = y;
    b->slot_of[k] = x;
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
            if (b->looks++ > LOOKS_MAX || b->costs > COSTS_MAX)
                return false;
            if (r->tasks[k].weight >= r->tasks[i].weight ||
                b->share[(size_t)b->slot_of[k] * b->cards + card] >= mine || !exchangeable(b, i, k))
                continue;
            double gain = relief(b, i, k);
            if (gain > best * (1 + 1e-9) && !dearer(b, i, k)) {
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

/* The busiest card that can be relieved. */
static bool relieve_one(struct balance *b)
{
    bool tried[64] = {false};
    for (unsigned round = 0; round < b->cards; round++) {
        unsigned busiest = b->cards;
        for (unsigned c = 0; c < b->cards; c++)
            if (!tried[c] && (busiest == b->cards || b->load[c] > b->load[busiest]))
                busiest = c;
        tried[busiest] = true;
        if (relieve(b, busiest))
            return true;
    }
    return false;
}

int nuioa_balance(const struct nuioa_request *request, const struct nuioa_slots *slots,
                  const struct nuioa_rails *rails, uint32_t *slot_of)
{
    struct balance b = {.request = request, .slots = slots, .slot_of = slot_of};
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
