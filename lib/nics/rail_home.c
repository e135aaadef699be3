/* SPDX-License-Identifier: BSD-3-Clause */
#include "nics/rail_home.h"

#include <errno.h>

#include "nics/gpu_distance.h"
#include "nics/rail_match.h"

uint32_t nuioa_rails_cards(const struct nuioa_rails *rails, uint32_t *card, double *rate)
{
    const struct nuioa_nic *nics = rails->node->nics;
    const uint32_t *nic = rails->nic;
    uint32_t count = 0;
    bool rated = true;
    for (uint32_t r = 0; r < rails->count; r++) {
        uint32_t k = 0;
        while (k < r && nics[nic[k]].card != nics[nic[r]].card)
            k++;
        card[r] = k < r ? card[k] : count++;
        rated &= nics[nic[r]].rate_mbps > 0;
        rate[r] = 0;
    }
    for (uint32_t r = 0; r < rails->count; r++) {
        double here = rated ? nics[nic[r]].rate_mbps : 1;
        if (here > rate[card[r]])
            rate[card[r]] = here;
    }
    return count;
}

/* All GPUs of a node and its rails. */
struct all {
    uint32_t gpus, rails, cards;
    uint32_t *card;  /* [rails] */
    double *rate;    /* [cards] */
    bool *near;      /* [gpus * rails]: no rail is nearer to the GPU */
    uint32_t *users; /* [rails]: how many GPUs have the rail as their home */
    uint32_t *users_of_card;
    struct nuioa_arena *arena;
};

static void find_near(const struct nuioa_rails *rails, uint32_t gpu, bool *near)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t r = 0; r < rails->count; r++) {
            uint32_t here = nuioa_gpu_rail_distance(rails, gpu, NULL, r);
            least = here < least ? here : least;
            near[r] = here == least;
        }
}

/* Matches users of weight 1 with machines. Returns their machines, or NULL. */
static uint32_t *match(const struct all *a, struct nuioa_rail_match *m)
{
    double *weight = nuioa_arena_take(a->arena, m->user_count, sizeof(*weight));
    m->weight = weight;
    m->machine_of = nuioa_arena_take(a->arena, m->user_count, sizeof(*m->machine_of));
    if (a->arena->failed)
        return NULL;
    for (uint32_t i = 0; i < m->user_count; i++)
        weight[i] = 1;
    return nuioa_rail_match(m) < 0 ? NULL : m->machine_of;
}

/* Gives each GPU a card, and of its ports the one with the fewest GPUs. */
static int choose_homes(struct all *a, uint32_t *home)
{
    bool *allowed = nuioa_arena_take(a->arena, (size_t)a->gpus * a->cards, sizeof(*allowed));
    double *load = nuioa_arena_take(a->arena, a->cards, sizeof(*load));
    if (a->arena->failed)
        return -ENOMEM;
    for (uint32_t g = 0; g < a->gpus; g++)
        for (uint32_t r = 0; r < a->rails; r++)
            allowed[(size_t)g * a->cards + a->card[r]] |= a->near[(size_t)g * a->rails + r];
    struct nuioa_rail_match m = { .user_count = a->gpus,
                                  .machine_count = a->cards,
                                  .allowed = allowed,
                                  .rate = a->rate,
                                  .load = load };
    const uint32_t *card_of = match(a, &m);
    if (!card_of)
        return -ENOMEM;
    for (uint32_t g = 0; g < a->gpus; g++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t r = 0; r < a->rails; r++)
            if (a->card[r] == card_of[g] && a->near[(size_t)g * a->rails + r] &&
                (best == UINT32_MAX || a->users[r] < a->users[best]))
                best = r;
        home[g] = best;
        a->users[best]++;
        a->users_of_card[card_of[g]]++;
    }
    return 0;
}

/* Shares out the rails that are nobody's home, as rails=auto does where all GPUs are in use. The
 * second port of a card is only for those who use the card. */
static int choose_owners(struct all *a, const uint32_t *home, uint32_t *owner)
{
    bool *allowed = nuioa_arena_take(a->arena, (size_t)a->rails * a->gpus, sizeof(*allowed));
    double *load = nuioa_arena_take(a->arena, a->gpus, sizeof(*load));
    double *rate = nuioa_arena_take(a->arena, a->gpus, sizeof(*rate));
    if (a->arena->failed)
        return -ENOMEM;
    for (uint32_t g = 0; g < a->gpus; g++)
        load[g] = rate[g] = 1;
    for (uint32_t r = 0; r < a->rails; r++)
        for (uint32_t g = 0; g < a->gpus; g++)
            allowed[(size_t)r * a->gpus + g] =
                !a->users[r] && a->near[(size_t)g * a->rails + r] &&
                (!a->users_of_card[a->card[r]] || a->card[r] == a->card[home[g]]);
    struct nuioa_rail_match m = { .user_count = a->rails,
                                  .machine_count = a->gpus,
                                  .allowed = allowed,
                                  .rate = rate,
                                  .load = load };
    const uint32_t *gpu_of = match(a, &m);
    if (!gpu_of)
        return -ENOMEM;
    for (uint32_t r = 0; r < a->rails; r++)
        owner[r] = gpu_of[r] == NUIOA_NO_MACHINE ? NUIOA_NO_GPU : gpu_of[r];
    for (uint32_t g = 0; g < a->gpus; g++)
        owner[home[g]] = a->users[home[g]] == 1 ? g : NUIOA_NO_GPU;
    return 0;
}

int nuioa_rail_homes_find(const struct nuioa_rails *rails, struct nuioa_arena *arena,
                          struct nuioa_rail_homes *homes)
{
    struct all a = { .gpus = rails->node->gpu_count, .rails = rails->count, .arena = arena };
    *homes = (struct nuioa_rail_homes){ 0 };
    if (!a.gpus || !a.rails)
        return 0;
    homes->gpu_count = a.gpus;
    homes->home = nuioa_arena_take(arena, a.gpus, sizeof(*homes->home));
    homes->owner = nuioa_arena_take(arena, a.rails, sizeof(*homes->owner));
    a.card = nuioa_arena_take(arena, a.rails, sizeof(*a.card));
    a.rate = nuioa_arena_take(arena, a.rails, sizeof(*a.rate));
    a.near = nuioa_arena_take(arena, (size_t)a.gpus * a.rails, sizeof(*a.near));
    a.users = nuioa_arena_take(arena, a.rails, sizeof(*a.users));
    a.users_of_card = nuioa_arena_take(arena, a.rails, sizeof(*a.users_of_card));
    if (arena->failed)
        return -ENOMEM;
    a.cards = nuioa_rails_cards(rails, a.card, a.rate);
    for (uint32_t g = 0; g < a.gpus; g++)
        find_near(rails, g, &a.near[(size_t)g * a.rails]);
    int rc = choose_homes(&a, homes->home);
    return rc < 0 ? rc : choose_owners(&a, homes->home, homes->owner);
}

bool nuioa_rail_is_left(const struct nuioa_rail_homes *homes, const bool *held, uint32_t rail)
{
    for (uint32_t g = 0; g < homes->gpu_count; g++)
        if (!held[g] && (homes->owner[rail] == g || homes->home[g] == rail))
            return true;
    return false;
}
