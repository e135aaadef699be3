/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/load_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/cost.h"
#include "mapping/load.h"
#include "mapping/random.h"
#include "util/arena.h"

#define NOBODY UINT32_MAX

struct search {
    const struct nuioa_problem *p;
    struct nuioa_arena arena;
    struct nuioa_budget *budget;
    uint32_t *slot_of;         /* [tasks] */
    uint32_t *task_in;         /* [slots]: a task or NOBODY */
    uint32_t *class_of;        /* [slots] */
    uint32_t *card_of;         /* [tasks] */
    uint32_t *first, *partner; /* task i has pairs[partner[first[i]..first[i + 1] - 1]] */
    bool *exchanged;           /* [tasks]: already exchanged in the group being tried */
    bool *stuck;               /* [tasks]: no group that begins with it lowers J */
    uint32_t *before;          /* [tasks]: the slots before that group, or before random swaps */
    double load[NUIOA_CARDS_MAX], most; /* loads of the cards, and the largest */
    uint32_t busiest;                   /* the card that has it */
    double least;                       /* a lower gain may be a rounding error */
};

/* A task moves to another slot, and the task that is there to the first one's slot; or it only
 * chooses another card. */
struct change {
    uint32_t i, k;                /* the tasks; k may be NOBODY */
    uint32_t from, to;            /* the slot of i, now and then */
    uint32_t card_i, card_k;      /* the cards that they will use */
    double load[NUIOA_CARDS_MAX]; /* the loads then */
    double rise;                  /* of J */
    double spread; /* of the sum of the squares of all loads: J sees the most loaded card only */
};

static void find_busiest(struct search *s)
{
    s->busiest = 0;
    for (uint32_t c = 1; c < s->p->load->card_count; c++)
        if (s->load[c] > s->load[s->busiest])
            s->busiest = c;
    s->most = s->load[s->busiest];
}

/* Begins with another mapping, which is copied and may be s->slot_of. */
static void restart(struct search *s, const uint32_t *slot_of)
{
    const struct nuioa_problem *p = s->p;
    memmove(s->slot_of, slot_of, p->task_count * sizeof(*s->slot_of));
    for (uint32_t k = 0; k < p->slot_count; k++)
        s->task_in[k] = NOBODY;
    for (uint32_t i = 0; i < p->task_count; i++)
        s->task_in[slot_of[i]] = i;
    nuioa_loads(p, slot_of, s->load, s->card_of);
    find_busiest(s);
}

static void index_pairs(struct search *s)
{
    const struct nuioa_problem *p = s->p;
    for (uint32_t k = 0; k < p->pair_count; k++) {
        s->first[p->pairs[k].first + 2]++;
        s->first[p->pairs[k].second + 2]++;
    }
    for (uint32_t i = 0; i < p->task_count; i++)
        s->first[i + 2] += s->first[i + 1];
    for (uint32_t k = 0; k < p->pair_count; k++) {
        s->partner[s->first[p->pairs[k].first + 1]++] = k;
        s->partner[s->first[p->pairs[k].second + 1]++] = k;
    }
}

static int search_open(struct search *s, const struct nuioa_problem *p, uint32_t *slot_of,
                       struct nuioa_budget *budget)
{
    size_t n = p->task_count;
    *s = (struct search){ .p = p, .budget = budget, .slot_of = slot_of };
    s->task_in = nuioa_arena_take(&s->arena, p->slot_count, sizeof(*s->task_in));
    s->class_of = nuioa_arena_take(&s->arena, p->slot_count, sizeof(*s->class_of));
    s->card_of = nuioa_arena_take(&s->arena, n, sizeof(*s->card_of));
    s->first = nuioa_arena_take(&s->arena, n + 2, sizeof(*s->first));
    s->partner = nuioa_arena_take(&s->arena, 2 * (size_t)p->pair_count + 1, sizeof(*s->partner));
    s->exchanged = nuioa_arena_take(&s->arena, n, sizeof(*s->exchanged));
    s->stuck = nuioa_arena_take(&s->arena, n, sizeof(*s->stuck));
    s->before = nuioa_arena_take(&s->arena, n, sizeof(*s->before));
    if (s->arena.failed)
        return -ENOMEM;
    nuioa_number_classes(p, s->class_of, s->task_in);
    index_pairs(s);
    s->least = 1e-12 * nuioa_cost(p, slot_of);
    restart(s, slot_of);
    return 0;
}

/* --- one change ------------------------------------------------------------------------------- */

/* Returns by how much the cost of the pairs of task i rises if it moves to `slot`, without its pair
 * with task `except`. */
static double pairs_rise(struct search *s, uint32_t i, uint32_t slot, uint32_t except)
{
    const struct nuioa_problem *p = s->p;
    double rise = 0;
    if (i == NOBODY)
        return 0;
    s->budget->evaluations += (s->first[i + 1] - s->first[i]) / 8;
    for (uint32_t at = s->first[i]; at < s->first[i + 1]; at++) {
        const struct nuioa_pair *pair = &p->pairs[s->partner[at]];
        uint32_t other = pair->first == i ? pair->second : pair->first;
        if (other == except)
            continue;
        const double *cost =
            p->domain_cost + (size_t)p->domain[s->slot_of[other]] * p->domain_count;
        rise += pair->bytes * (cost[p->domain[slot]] - cost[p->domain[s->slot_of[i]]]);
    }
    return rise;
}

/* Returns by how much the second term of J rises. The cost of the pair of both tasks stays. */
static double neighbours_rise(struct search *s, const struct change *change)
{
    if (!s->p->pair_count || change->from == change->to)
        return 0;
    return pairs_rise(s, change->i, change->to, change->k) +
           pairs_rise(s, change->k, change->from, change->i);
}

/* Finds what happens if task i goes to slot `to`; `rise` is without neighbours. The heavier task
 * chooses its card first. */
static void find_change(const struct search *s, uint32_t i, uint32_t to, struct change *change)
{
    const struct nuioa_problem *p = s->p;
    const struct nuioa_load *l = p->load;
    uint32_t from = s->slot_of[i], k = from == to ? NOBODY : s->task_in[to];
    double *load = change->load, most = 0, weight = p->weight[i];
    change->i = i;
    change->k = k;
    change->from = from;
    change->to = to;
    change->card_k = 0;
    change->spread = 0;
    memcpy(load, s->load, l->card_count * sizeof(*load));
    load[s->card_of[i]] -= l->weight[i] / l->part[s->card_of[i]];
    if (k != NOBODY) {
        weight -= p->weight[k];
        load[s->card_of[k]] -= l->weight[k] / l->part[s->card_of[k]];
    }
    if (k != NOBODY && l->weight[k] > l->weight[i])
        change->card_k = nuioa_load_add(l, load, k, from);
    change->card_i = nuioa_load_add(l, load, i, to);
    if (k != NOBODY && l->weight[k] <= l->weight[i])
        change->card_k = nuioa_load_add(l, load, k, from);
    for (uint32_t c = 0; c < l->card_count; c++) {
        most = load[c] > most ? load[c] : most;
        change->spread += l->part[c] * (load[c] * load[c] - s->load[c] * s->load[c]);
    }
    change->rise = weight * (p->nic_cost[to] - p->nic_cost[from]) + l->price * (most - s->most);
}

/* Returns true if J falls; or if it stays, and the loads become more equal. So two cards with the
 * same largest load can be relieved one after the other. */
static bool is_gain(const struct search *s, double rise, double spread)
{
    return rise < -s->least || (rise <= s->least && spread < -1e-6 * s->most * s->most);
}

static void apply(struct search *s, const struct change *change)
{
    memcpy(s->load, change->load, s->p->load->card_count * sizeof(*s->load));
    find_busiest(s);
    s->card_of[change->i] = change->card_i;
    if (change->from == change->to)
        return;
    s->slot_of[change->i] = change->to;
    s->task_in[change->to] = change->i;
    s->task_in[change->from] = change->k;
    if (change->k != NOBODY) {
        s->slot_of[change->k] = change->from;
        s->card_of[change->k] = change->card_k;
    }
}

static bool is_pinned(const struct search *s, uint32_t i)
{
    return i != NOBODY && s->p->pinned && s->p->pinned[i];
}

/* Returns true if task i and the task in slot y, if there is one, may swap, and that changes
 * something; or if y is its own slot, and it can choose another card. */
static bool may_go(const struct search *s, uint32_t i, uint32_t y)
{
    uint32_t x = s->slot_of[i];
    uint64_t near = s->p->load->near[x];
    if (x == y)
        return near & (near - 1);
    return s->class_of[x] != s->class_of[y] && s->p->kind[x] == s->p->kind[y] && !is_pinned(s, i) &&
           !is_pinned(s, s->task_in[y]);
}

/* --- descent ---------------------------------------------------------------------------------- */

/* Returns true if the task uses a card with the largest load. */
static bool is_crowded(const struct search *s, uint32_t i)
{
    return i != NOBODY && s->load[s->card_of[i]] >= s->most * (1 - 1e-9);
}

/* Returns false if the first and the third term of J surely do not fall, and no card with the
 * largest load is relieved. */
static bool may_gain(const struct search *s, uint32_t i, uint32_t y)
{
    const struct nuioa_problem *p = s->p;
    uint32_t k = s->task_in[y];
    double weight = p->weight[i] - (k == NOBODY ? 0 : p->weight[k]);
    return is_crowded(s, i) || is_crowded(s, k) ||
           weight * (p->nic_cost[y] - p->nic_cost[s->slot_of[i]]) < 0;
}

static bool try_change(struct search *s, uint32_t i, uint32_t y)
{
    struct change change;
    bool all = s->p->pair_count && s->p->task_count <= NUIOA_LOAD_SMALL;
    if (!may_go(s, i, y) || (!all && !may_gain(s, i, y)))
        return false;
    s->budget->evaluations++;
    find_change(s, i, y, &change);
    /* The search begins with mappings that are good for neighbours. Looking for better ones is done
     * only where it takes little time. */
    if (all || is_gain(s, change.rise, change.spread))
        change.rise += neighbours_rise(s, &change);
    if (!is_gain(s, change.rise, change.spread))
        return false;
    apply(s, &change);
    return true;
}

/* Makes changes as long as there is a gain. */
static void descend(struct search *s)
{
    for (uint32_t quiet = 0, i = 0; quiet < s->p->task_count; i = (i + 1) % s->p->task_count) {
        quiet++;
        if (!nuioa_spend(s->budget, 1 + s->p->slot_count / 16))
            break;
        for (uint32_t y = 0; y < s->p->slot_count; y++)
            if (try_change(s, i, y))
                quiet = 0;
    }
}

/* --- exchange of groups, where a single swap would separate neighbours ------------------------ */

/* Returns the task, among those not yet exchanged in slots of class `from`, for which J rises least
 * if it moves to `to`; NOBODY if there is none. */
static uint32_t least_rise(struct search *s, uint32_t from, uint32_t to, uint32_t except)
{
    uint32_t best = NOBODY;
    double least = 0;
    for (uint32_t t = 0; t < s->p->task_count; t++) {
        if (s->exchanged[t] || is_pinned(s, t) || s->class_of[s->slot_of[t]] != from)
            continue;
        double rise = pairs_rise(s, t, to, except);
        if (best == NOBODY || rise < least) {
            least = rise;
            best = t;
        }
    }
    return best;
}

/* Swaps tasks i and k, then pairs of tasks for which J rises least, until all of it is a gain.
 * If that fails, all tasks return, and the result is false. */
static bool swap_group(struct search *s, uint32_t i, uint32_t k)
{
    uint32_t n = s->p->task_count, from = s->slot_of[i], to = s->slot_of[k];
    struct change change;
    double rise = 0, spread = 0;
    memset(s->exchanged, 0, n * sizeof(*s->exchanged));
    memcpy(s->before, s->slot_of, n * sizeof(*s->before));
    while (i != NOBODY && k != NOBODY && nuioa_spend(s->budget, 1)) {
        find_change(s, i, s->slot_of[k], &change);
        rise += change.rise + neighbours_rise(s, &change);
        spread += change.spread;
        apply(s, &change);
        s->exchanged[i] = s->exchanged[k] = true;
        if (is_gain(s, rise, spread))
            return true;
        i = least_rise(s, s->class_of[from], to, NOBODY);
        k = i == NOBODY ? NOBODY : least_rise(s, s->class_of[to], from, i);
    }
    restart(s, s->before);
    return false;
}

/* Returns the task with which a swap of task i would be a gain but for neighbours, and raises J
 * least; NOBODY if there is none. */
static uint32_t best_swap(struct search *s, uint32_t i)
{
    uint32_t best = NOBODY;
    double least = 0;
    for (uint32_t k = 0; k < s->p->task_count && nuioa_spend(s->budget, 1); k++) {
        struct change change;
        if (k == i || !may_go(s, i, s->slot_of[k]))
            continue;
        find_change(s, i, s->slot_of[k], &change);
        if (!is_gain(s, change.rise, change.spread))
            continue;
        double rise = change.rise + neighbours_rise(s, &change);
        if (best == NOBODY || rise < least) {
            least = rise;
            best = k;
        }
    }
    return best;
}

/* Exchanges a group that begins with the heaviest possible task of the busiest card. Returns false
 * if there is none. */
static bool exchange_group(struct search *s)
{
    const struct nuioa_load *l = s->p->load;
    while (s->p->pair_count && nuioa_spend(s->budget, 1)) {
        uint32_t i = NOBODY;
        for (uint32_t t = 0; t < s->p->task_count; t++)
            if (!s->stuck[t] && !is_pinned(s, t) && s->card_of[t] == s->busiest &&
                (i == NOBODY || l->weight[t] > l->weight[i]))
                i = t;
        if (i == NOBODY)
            return false;
        uint32_t k = best_swap(s, i);
        if (k != NOBODY && swap_group(s, i, k))
            return true;
        s->stuck[i] = true;
    }
    return false;
}

/* --- the whole search ------------------------------------------------------------------------- */

static void improve(struct search *s)
{
    memset(s->stuck, 0, s->p->task_count * sizeof(*s->stuck));
    do
        descend(s);
    while (exchange_group(s));
}

static void disturb(struct search *s, struct nuioa_random *random)
{
    for (unsigned k = 0; k < 3; k++) {
        uint32_t i = nuioa_random_below(random, s->p->task_count);
        uint32_t y = nuioa_random_below(random, s->p->slot_count);
        struct change change;
        if (!may_go(s, i, y))
            continue;
        find_change(s, i, y, &change);
        apply(s, &change);
    }
}

/* Repeats the search from mappings near the best one, best[task_count]. */
static void iterate(struct search *s, uint32_t *best)
{
    enum { ROUNDS = 24 };
    const size_t bytes = s->p->task_count * sizeof(*best);
    struct nuioa_random random = { 0x9e3779b97f4a7c15 };
    double lowest = nuioa_cost(s->p, s->slot_of);
    memcpy(best, s->slot_of, bytes);
    for (unsigned k = 0; k < ROUNDS && nuioa_spend(s->budget, 1); k++) {
        restart(s, best);
        disturb(s, &random);
        improve(s);
        double cost = nuioa_cost(s->p, s->slot_of);
        if (cost < lowest - s->least) {
            lowest = cost;
            memcpy(best, s->slot_of, bytes);
        }
    }
    restart(s, best);
}

/* Tasks of equal weight exchange slots without a change of J. One whose start slot went to such a
 * task gets it back, so that no task moves without need. */
static void return_home(struct search *s)
{
    const struct nuioa_problem *p = s->p;
    for (uint32_t i = 0; !p->pair_count && i < p->task_count; i++) {
        uint32_t home = p->start[i], k = s->task_in[home], from = s->slot_of[i];
        if (k == NOBODY || k == i || is_pinned(s, i) || is_pinned(s, k) ||
            p->weight[i] != p->weight[k] || p->load->weight[i] != p->load->weight[k] ||
            p->task_kind[i] != p->task_kind[k])
            continue;
        s->slot_of[i] = home;
        s->slot_of[k] = from;
        s->task_in[home] = i;
        s->task_in[from] = k;
    }
}

int nuioa_load_search(const struct nuioa_problem *p, uint32_t *slot_of, bool thorough,
                      struct nuioa_budget *budget)
{
    struct search s;
    uint32_t best[NUIOA_LOAD_SMALL];
    int rc = search_open(&s, p, slot_of, budget);
    if (rc == 0) {
        improve(&s);
        if (thorough && p->task_count <= NUIOA_LOAD_SMALL)
            iterate(&s, best);
        return_home(&s);
    }
    nuioa_arena_free(&s.arena);
    return rc;
}
