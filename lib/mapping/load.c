/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double nuioa_load_even(const struct nuioa_problem *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->task_count; i++)
        sum += p->load->weight[i];
    for (uint32_t c = 0; c < p->load->card_count; c++)
        sum += p->load->fixed[c];
    return sum;
}

uint32_t nuioa_load_choose(const struct nuioa_load *l, const double *load, uint32_t task,
                           uint32_t slot)
{
    uint32_t best = 0;
    double least = INFINITY, weight = l->weight[task];
    for (uint64_t near = l->near[slot]; near; near &= near - 1) {
        uint32_t c = (uint32_t)__builtin_ctzll(near);
        if (load[c] + weight / l->part[c] < least) {
            best = c;
            least = load[c] + weight / l->part[c];
        }
    }
    return best;
}

uint32_t nuioa_load_add(const struct nuioa_load *l, double *load, uint32_t task, uint32_t slot)
{
    uint32_t c = nuioa_load_choose(l, load, task, slot);
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): near has cards only. */
    load[c] += l->weight[task] / l->part[c];
    return c;
}

static uint32_t choices(const struct nuioa_problem *p, uint32_t slot)
{
    return (uint32_t)__builtin_popcountll(p->load->near[slot]);
}

double nuioa_loads(const struct nuioa_problem *p, const uint32_t *slot_of, double *load,
                   uint32_t *card_of)
{
    const struct nuioa_load *l = p->load;
    double largest = 0;
    uint32_t most = 1;
    for (uint32_t c = 0; c < l->card_count; c++)
        load[c] = l->fixed[c] / l->part[c];
    for (uint32_t count = 1; count <= most; count++)
        for (uint32_t k = 0; k < p->task_count; k++) {
            uint32_t i = l->order[k], here = choices(p, slot_of[i]);
            most = here > most ? here : most;
            if (here != count)
                continue;
            uint32_t c = nuioa_load_add(l, load, i, slot_of[i]);
            if (card_of)
                card_of[i] = c;
        }
    for (uint32_t c = 0; c < l->card_count; c++)
        largest = load[c] > largest ? load[c] : largest;
    return largest;
}

/* --- the bound -------------------------------------------------------------------------------- */

struct bound {
    const struct nuioa_load *load;
    uint32_t task_count;
    double *heaviest;  /* [task_count]: the weights in descending order */
    double total;      /* their sum */
    uint32_t *slots;   /* [card_count]: how many slots have the card near */
    double *reachable; /* [card_count]: weight of as many of the heaviest tasks */
    bool whole;        /* no slot has two cards near */
};

static int heavier_first(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

static void measure(struct bound *b, const struct nuioa_problem *p)
{
    b->whole = true;
    memcpy(b->heaviest, b->load->weight, b->task_count * sizeof(*b->heaviest));
    qsort(b->heaviest, b->task_count, sizeof(*b->heaviest), heavier_first);
    for (uint32_t i = 0; i < b->task_count; i++)
        b->total += b->heaviest[i];
    for (uint32_t s = 0; s < p->slot_count; s++) {
        for (uint32_t c = 0; c < b->load->card_count; c++)
            b->slots[c] += p->load->near[s] >> c & 1;
        b->whole = b->whole && choices(p, s) == 1;
    }
    for (uint32_t c = 0; c < b->load->card_count; c++)
        for (uint32_t i = 0; i < b->slots[c] && i < b->task_count; i++)
            b->reachable[c] += b->heaviest[i];
}

/* Returns true unless the weight surely does not fit when no card has more than `most` load. */
static bool fits(const struct bound *b, double most)
{
    const struct nuioa_load *l = b->load;
    double room = 0;
    for (uint32_t c = 0; c < l->card_count; c++) {
        double free = l->part[c] * most * (1 + 1e-12) - l->fixed[c];
        if (free < 0)
            return false;
        room += fmin(free, b->reachable[c]);
    }
    if (room < b->total * (1 - 1e-12))
        return false;
    /* The k heaviest tasks need room for k tasks of the k-th one's weight. */
    for (uint32_t k = 1; b->whole && k <= b->task_count && b->heaviest[k - 1] > 0; k++) {
        double tasks = 0;
        for (uint32_t c = 0; c < l->card_count; c++) {
            double free = l->part[c] * most - l->fixed[c];
            tasks += fmin(floor(free / b->heaviest[k - 1] + 1e-9), b->slots[c]);
        }
        if (tasks < k)
            return false;
    }
    return true;
}

double nuioa_load_bound(const struct nuioa_problem *p)
{
    const struct nuioa_load *l = p->load;
    double start[NUIOA_CARDS_MAX], low = nuioa_load_even(p), high;
    struct bound b = { .load = l, .task_count = p->task_count };
    b.heaviest = malloc(p->task_count * sizeof(*b.heaviest));
    b.slots = calloc(l->card_count, sizeof(*b.slots));
    b.reachable = calloc(l->card_count, sizeof(*b.reachable));
    if (b.heaviest && b.slots && b.reachable) {
        measure(&b, p);
        high = nuioa_loads(p, p->start, start, NULL);
        if (fits(&b, low))
            high = low;
        while (high - low > 1e-13 * high) {
            double middle = (low + high) / 2;
            *(fits(&b, middle) ? &high : &low) = middle;
        }
    }
    free(b.heaviest);
    free(b.slots);
    free(b.reachable);
    return low;
}

/* --- slots ------------------------------------------------------------------------------------ */

static bool equal_slots(const struct nuioa_problem *p, uint32_t a, uint32_t b)
{
    return p->nic_cost[a] == p->nic_cost[b] && p->kind[a] == p->kind[b] && p->tie[a] == p->tie[b] &&
           (!p->pair_count || p->domain[a] == p->domain[b]) && p->load->near[a] == p->load->near[b];
}

uint32_t nuioa_number_classes(const struct nuioa_problem *p, uint32_t *class_of, uint32_t *first)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < p->slot_count; s++) {
        uint32_t k = 0;
        while (k < count && !equal_slots(p, s, first[k]))
            k++;
        if (k == count)
            first[count++] = s;
        class_of[s] = k;
    }
    return count;
}
