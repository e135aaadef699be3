/* SPDX-License-Identifier: BSD-3-Clause */
#include "nics/rail_home.h"

#include <errno.h>

#include "nics/gpu_distance.h"
#include "nics/rail_match.h"

/* All GPUs of a node and its rails. */
struct all {
    uint32_t gpus;
    const struct nuioa_rails *rails;
    bool *near;              /* [gpus * rails]: no rail is nearer to the GPU */
    uint32_t *users;         /* [rails]: how many GPUs have the rail as their home */
    uint32_t *users_of_card; /* [cards] */
    struct nuioa_arena *arena;
};

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
    const uint32_t cards = a->rails->card_count, rails = a->rails->count, *card = a->rails->card;
    bool *allowed = nuioa_arena_take(a->arena, (size_t)a->gpus * cards, sizeof(*allowed));
    double *load = nuioa_arena_take(a->arena, cards, sizeof(*load));
    if (a->arena->failed)
        return -ENOMEM;
    for (uint32_t g = 0; g < a->gpus; g++)
        for (uint32_t r = 0; r < rails; r++)
            allowed[(size_t)g * cards + card[r]] |= a->near[(size_t)g * rails + r];
    struct nuioa_rail_match m = { .user_count = a->gpus,
                                  .machine_count = cards,
                                  .allowed = allowed,
                                  .rate = a->rails->rate,
                                  .load = load };
    const uint32_t *card_of = match(a, &m);
    if (!card_of)
        return -ENOMEM;
    for (uint32_t g = 0; g < a->gpus; g++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t r = 0; r < rails; r++)
            if (card[r] == card_of[g] && a->near[(size_t)g * rails + r] &&
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
    const uint32_t rails = a->rails->count, *card = a->rails->card;
    bool *allowed = nuioa_arena_take(a->arena, (size_t)rails * a->gpus, sizeof(*allowed));
    double *load = nuioa_arena_take(a->arena, a->gpus, sizeof(*load));
    double *rate = nuioa_arena_take(a->arena, a->gpus, sizeof(*rate));
    if (a->arena->failed)
        return -ENOMEM;
    for (uint32_t g = 0; g < a->gpus; g++)
        load[g] = rate[g] = 1;
    for (uint32_t r = 0; r < rails; r++)
        for (uint32_t g = 0; g < a->gpus; g++)
            allowed[(size_t)r * a->gpus + g] =
                !a->users[r] && a->near[(size_t)g * rails + r] &&
                (!a->users_of_card[card[r]] || card[r] == card[home[g]]);
    struct nuioa_rail_match m = { .user_count = rails,
                                  .machine_count = a->gpus,
                                  .allowed = allowed,
                                  .rate = rate,
                                  .load = load };
    const uint32_t *gpu_of = match(a, &m);
    if (!gpu_of)
        return -ENOMEM;
    for (uint32_t r = 0; r < rails; r++)
        owner[r] = gpu_of[r] == NUIOA_NO_MACHINE ? NUIOA_NO_GPU : gpu_of[r];
    for (uint32_t g = 0; g < a->gpus; g++)
        owner[home[g]] = a->users[home[g]] == 1 ? g : NUIOA_NO_GPU;
    return 0;
}

int nuioa_rail_homes_find(const struct nuioa_rails *rails, struct nuioa_arena *arena,
                          struct nuioa_rail_homes *homes)
{
    const uint32_t gpus = rails->node->gpu_count;
    struct all a = { .gpus = gpus, .rails = rails, .arena = arena };
    *homes = (struct nuioa_rail_homes){ 0 };
    if (!gpus || !rails->count)
        return 0;
    homes->gpu_count = gpus;
    homes->home = nuioa_arena_take(arena, gpus, sizeof(*homes->home));
    homes->owner = nuioa_arena_take(arena, rails->count, sizeof(*homes->owner));
    a.near = nuioa_arena_take(arena, (size_t)gpus * rails->count, sizeof(*a.near));
    a.users = nuioa_arena_take(arena, rails->count, sizeof(*a.users));
    a.users_of_card = nuioa_arena_take(arena, rails->card_count, sizeof(*a.users_of_card));
    if (arena->failed)
        return -ENOMEM;
    for (uint32_t g = 0; g < gpus; g++)
        nuioa_gpus_near_rails(rails, &g, 1, NULL, &a.near[(size_t)g * rails->count]);
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
