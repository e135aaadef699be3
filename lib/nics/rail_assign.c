/* SPDX-License-Identifier: BSD-3-Clause */
#include "nics/rail_assign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nics/gpu_distance.h"
#include "nics/rail_match.h"
#include "util/arena.h"

/* A claim: a GPU of a rank, or a rank without GPUs, needs a rail. With rails=K a rank has up to K
 * claims, those of the GPUs that nuioa_gpus_pick chooses. */
struct claim {
    bool unknown;   /* a rank whose GPUs are unknown: it chooses after all others */
    uint32_t local; /* local rank; NOBODY for a GPU that no rank is known to have */
    int32_t gpu;    /* index into node->gpus, or -1 */
    double weight;
    uint32_t *distance; /* [rails]: only compared */
    uint32_t nearest;   /* the least of its distances */
    uint32_t choices;   /* how many rails are nearest */
    uint32_t first;     /* the rail that it got */
};

#define NOBODY UINT32_MAX

/* The state while rails are chosen. Everything is by rail, by card, or by claim. */
struct chooser {
    const struct nuioa_rails *rails;
    const struct nuioa_request *request;
    const struct nuioa_assignment *assignments; /* [task_count], by local rank */
    struct nuioa_arena *arena;                  /* of all arrays */
    double *card_load, *rail_load;              /* in the unit of weights */
    uint32_t claim_count;
    struct claim *claims;     /* [claim_count], by local rank and GPU */
    struct claim **order;     /* [claim_count]: in which they choose */
    uint32_t *begin;          /* [task_count + 1]: the first claim of each local rank */
    uint32_t *distance;       /* [claim_count * rails]: of the claims */
    uint32_t *picked;         /* [claim_count]: the GPUs of one rank that choose */
    bool *has;                /* [task_count * rails]: the rank uses the rail */
    bool *seen;               /* [rails]: the rails that a rank may get which sees GPUs */
    const struct claim *home; /* [gpu_count]: of the GPU when all are in use; NULL while these are
                                 found, or if nobody has a GPU */
    uint32_t *owner; /* [rails]: the only GPU that has the rail then; NOBODY: several, or none */
    bool *held;      /* [gpu_count]: a rank is known to have the GPU */
    bool any_held;   /* some rank is known to have a GPU */
};

/* Returns true if no rail is nearer, and none as near is less doubted. */
static bool is_near(const struct claim *claim, uint32_t rail)
{
    return claim->distance[rail] == claim->nearest;
}

static bool *has(const struct chooser *c, uint32_t local, uint32_t rail)
{
    return &c->has[(size_t)local * c->rails->count + rail];
}

/* A doubted rail comes after those that are as near. */
static uint32_t distance_of(const struct chooser *c, const struct claim *claim,
                            hwloc_const_bitmap_t cpus, uint32_t rail)
{
    if (claim->gpu >= 0)
        return nuioa_gpu_rail_distance(c->rails, (uint32_t)claim->gpu, cpus, rail);
    if (c->request->tasks[claim->local].seen_count && !c->seen[rail])
        return UINT32_MAX; /* it is near to none of the GPUs that the rank sees */
    return 2 * nuioa_rail_distance(c->rails, cpus, rail) +
           (c->request->node->nics[c->rails->nic[rail]].doubts != 0);
}

/* Adds one claim; `cpus` are those of its rank, or NULL. */
static void add_claim(struct chooser *c, struct claim new, hwloc_const_bitmap_t cpus)
{
    struct claim *claim = &c->claims[c->claim_count];
    *claim = new;
    claim->distance = c->distance + (size_t)c->claim_count * c->rails->count;
    claim->nearest = UINT32_MAX;
    c->order[c->claim_count++] = claim;
    if (claim->local != NOBODY && claim->gpu < 0)
        nuioa_gpus_near_rails(c->rails, c->request->tasks[claim->local].seen,
                              c->request->tasks[claim->local].seen_count, cpus, c->seen);
    for (uint32_t r = 0; r < c->rails->count; r++) {
        uint32_t here = distance_of(c, claim, cpus, r);
        claim->distance[r] = here;
        claim->choices = here < claim->nearest ? 1 : claim->choices + (here == claim->nearest);
        claim->nearest = here < claim->nearest ? here : claim->nearest;
    }
}

/* Claims of ranks whose GPUs are unknown come last. Of the others, and of these, claims with few
 * choices come first, so that the rest can balance the loads, and heavy ones before light ones. */
static int choosing_order(const void *a, const void *b)
{
    const struct claim *x = *(struct claim *const *)a, *y = *(struct claim *const *)b;
    if (x->unknown != y->unknown)
        return x->unknown ? 1 : -1;
    if (x->choices != y->choices)
        return x->choices < y->choices ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Returns true if it is known which GPUs a task has; on a node without GPUs it has none. */
static bool knows_gpus(const struct nuioa_request *request, uint32_t local)
{
    return request->tasks[local].gpus_known || !request->node->gpu_count;
}

/* Returns the place in c->order of the first claim of the GPU that alone has the rail when all GPUs
 * are in use, or NUIOA_NO_MACHINE. */
static uint32_t owner_claim(const struct chooser *c, uint32_t rail)
{
    for (uint32_t i = 0; c->home && i < c->claim_count; i++)
        if (c->order[i]->gpu >= 0 && c->owner[rail] == (uint32_t)c->order[i]->gpu)
            return i;
    return NUIOA_NO_MACHINE;
}

/* Returns true if the rail belongs to a GPU that no rank is known to have: another step may have
 * it. */
static bool is_left(const struct chooser *c, uint32_t rail)
{
    for (uint32_t g = 0; c->home && c->any_held && g < c->request->node->gpu_count; g++)
        if (!c->held[g] && (c->owner[rail] == g || c->home[g].first == rail))
            return true;
    return false;
}

/* Makes the claims. Ranks without weight get a small one, so that they share the rails evenly
 * too. */
static void add_claims(struct chooser *c)
{
    const struct nuioa_request *r = c->request;
    const struct nuioa_assignment *assignments = c->assignments;
    double heaviest = 0, sum = 0;
    bool all_known = true;
    const uint32_t most = r->options->rails;
    for (uint32_t i = 0; i < r->task_count; i++)
        heaviest = assignments[i].weight > heaviest ? assignments[i].weight : heaviest;
    double least = heaviest > 0 ? 1e-6 * heaviest : 1;
    for (uint32_t i = 0; i < r->task_count; i++) {
        const struct nuioa_task *task = &r->tasks[i];
        const bool known = knows_gpus(r, i);
        hwloc_const_bitmap_t cpus = assignments[i].cpus;
        double weight = assignments[i].weight > least ? assignments[i].weight : least;
        c->begin[i] = c->claim_count;
        uint32_t count =
            nuioa_gpus_pick(c->rails, task, cpus, most ? most : task->gpu_count, c->picked);
        struct claim claim = { .unknown = !known, .local = i, .gpu = -1, .weight = weight };
        if (!task->gpu_count)
            add_claim(c, claim, cpus);
        for (uint32_t k = 0; k < count; k++) {
            claim.gpu = (int32_t)c->picked[k];
            claim.weight = weight / count;
            add_claim(c, claim, cpus);
        }
        all_known = all_known && known;
        sum += weight;
    }
    c->begin[r->task_count] = c->claim_count;
    /* If some rank is known to have a GPU, those that nobody has choose, too. */
    const double mean = sum / c->claim_count;
    for (uint32_t g = 0; !all_known && c->any_held && g < r->node->gpu_count; g++)
        if (!c->held[g])
            add_claim(c, (struct claim){ .local = NOBODY, .gpu = (int32_t)g, .weight = mean },
                      NULL);
}

/* Takes the arrays, and makes the claims. Returns 0 or -ENOMEM. */
static int begin(struct chooser *c)
{
    const struct nuioa_request *r = c->request;
    size_t n = r->task_count, rows = r->node->gpu_count;
    for (size_t i = 0; i < n; i++)
        rows += r->tasks[i].gpu_count ? r->tasks[i].gpu_count : 1;
    c->card_load = nuioa_arena_take(c->arena, c->rails->card_count, sizeof(*c->card_load));
    c->rail_load = nuioa_arena_take(c->arena, c->rails->count, sizeof(*c->rail_load));
    c->claims = nuioa_arena_take(c->arena, rows, sizeof(*c->claims));
    c->order = nuioa_arena_take(c->arena, rows, sizeof(struct claim *));
    c->begin = nuioa_arena_take(c->arena, n + 1, sizeof(*c->begin));
    c->distance = nuioa_arena_take(c->arena, rows * c->rails->count, sizeof(*c->distance));
    c->picked = nuioa_arena_take(c->arena, rows, sizeof(*c->picked));
    c->has = nuioa_arena_take(c->arena, n * c->rails->count, sizeof(*c->has));
    c->seen = nuioa_arena_take(c->arena, c->rails->count, sizeof(*c->seen));
    c->held = nuioa_arena_take(c->arena, r->node->gpu_count, sizeof(*c->held));
    if (c->arena->failed)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < r->tasks[i].gpu_count; k++)
            c->any_held = c->held[r->tasks[i].gpus[k]] = true;
    add_claims(c);
    return 0;
}

/* --- one rail for each claim ------------------------------------------------------------------ */

/* Returns the rail that the claim's GPU has among equals, or NOBODY. */
static uint32_t home_of(const struct chooser *c, const struct claim *claim)
{
    return claim->gpu >= 0 && c->home ? c->home[claim->gpu].first : NOBODY;
}

/* Returns the rail of this card that is nearest to the claim and, of several ports, the one with
 * the least load. */
static uint32_t choose_port(const struct chooser *c, const struct claim *claim, uint32_t card)
{
    uint32_t best = NOBODY, home = home_of(c, claim);
    for (uint32_t r = 0; r < c->rails->count; r++)
        if (c->rails->card[r] == card && is_near(claim, r) &&
            (best == NOBODY || c->rail_load[r] < c->rail_load[best] ||
             (c->rail_load[r] == c->rail_load[best] && r == home)))
            best = r;
    return best;
}

static void use(struct chooser *c, uint32_t local, uint32_t rail, double weight)
{
    if (local != NOBODY)
        *has(c, local, rail) = true;
    c->rail_load[rail] += weight;
}

/* Returns true if some CPUs of the claim's rank are beside the rail: better than others, where they
 * span NUMA nodes and are equally near to all. */
static bool is_beside(const struct chooser *c, const struct claim *claim, uint32_t rail)
{
    return claim->local == NOBODY || claim->gpu >= 0 ||
           hwloc_bitmap_intersects(c->assignments[claim->local].cpus,
                                   c->request->node->nics[c->rails->nic[rail]].cpus);
}

/* Returns a matching whose other arrays are zeros in the arena. */
static struct nuioa_rail_match new_match(struct chooser *c, uint32_t users, uint32_t machines,
                                         const double *rate, double *load)
{
    return (struct nuioa_rail_match){
        .user_count = users,
        .machine_count = machines,
        .fit = nuioa_arena_take(c->arena, (size_t)users * machines, sizeof(uint8_t)),
        .weight = nuioa_arena_take(c->arena, users, sizeof(double)),
        .rate = rate,
        .load = load,
        .preferred = nuioa_arena_take(c->arena, users, sizeof(uint32_t)),
        .machine_of = nuioa_arena_take(c->arena, users, sizeof(uint32_t)),
    };
}

/* Gives each claim its first rail. Returns 0 or -ENOMEM. */
static int choose_first(struct chooser *c)
{
    const uint32_t cards = c->rails->card_count;
    struct nuioa_rail_match match =
        new_match(c, c->claim_count, cards, c->rails->rate, c->card_load);
    if (c->arena->failed)
        return -ENOMEM;
    for (size_t i = 0; i < c->claim_count; i++) {
        const struct claim *claim = c->order[i];
        uint32_t home = home_of(c, claim);
        match.weight[i] = claim->weight;
        match.preferred[i] = home == NOBODY ? NUIOA_NO_MACHINE : c->rails->card[home];
        for (uint32_t r = 0; r < c->rails->count; r++) {
            uint8_t *fit = &match.fit[i * cards + c->rails->card[r]];
            uint8_t here = is_near(claim, r) ? 1 + is_beside(c, claim, r) : 0;
            *fit = here > *fit ? here : *fit;
        }
    }
    int rc = nuioa_rail_match(&match);
    for (size_t i = 0; rc == 0 && i < c->claim_count; i++) {
        struct claim *claim = c->order[i];
        claim->first = choose_port(c, claim, match.machine_of[i]);
        use(c, claim->local, claim->first, claim->weight);
    }
    return rc;
}

/* --- further rails ---------------------------------------------------------------------------- */

/* Returns true if a rail that nobody has may be given to the claim. The second port of a card is
 * only for those who use the card. */
static bool may_add(const struct chooser *c, const struct claim *claim, uint32_t rail,
                    bool card_used)
{
    return is_near(claim, rail) && claim->local != NOBODY && knows_gpus(c->request, claim->local) &&
           (!card_used || c->rails->card[rail] == c->rails->card[claim->first]);
}

/* rails=auto: shares out the rails that nobody has. Here the rails are the users of the matching,
 * and claims are the machines. */
static int share_out(struct chooser *c)
{
    const uint32_t *card = c->rails->card, n = c->claim_count, rails = c->rails->count;
    double *rate = nuioa_arena_take(c->arena, n, sizeof(*rate));
    double *load = nuioa_arena_take(c->arena, n, sizeof(*load));
    bool *used = nuioa_arena_take(c->arena, rails, sizeof(*used));
    bool *card_used = nuioa_arena_take(c->arena, c->rails->card_count, sizeof(*card_used));
    struct nuioa_rail_match match = new_match(c, rails, n, rate, load);
    if (c->arena->failed)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = c->order[i]->first;
        used[first] = card_used[card[first]] = true;
        rate[i] = c->order[i]->weight;
        load[i] = 1;
    }
    for (uint32_t r = 0; r < rails; r++) {
        bool idle = !used[r] && !is_left(c, r);
        match.weight[r] = 1;
        match.preferred[r] = owner_claim(c, r);
        for (uint32_t i = 0; idle && i < n; i++)
            if (may_add(c, c->order[i], r, card_used[card[r]]))
                match.fit[(size_t)r * n + i] = 1 + is_beside(c, c->order[i], r);
    }
    int rc = nuioa_rail_match(&match);
    for (uint32_t r = 0; rc == 0 && r < rails; r++)
        if (match.machine_of[r] != NUIOA_NO_MACHINE)
            *has(c, c->order[match.machine_of[r]]->local, r) = true;
    return rc;
}

/* Finds the home of each GPU, and the owner of each rail: what they get if each GPU has a rank of
 * its own. */
static int find_homes(struct chooser *c)
{
    const uint32_t gpus = c->request->node->gpu_count;
    struct nuioa_task *tasks = nuioa_arena_take(c->arena, gpus, sizeof(*tasks));
    struct nuioa_assignment *unplaced = nuioa_arena_take(c->arena, gpus, sizeof(*unplaced));
    uint32_t *gpu = nuioa_arena_take(c->arena, gpus, sizeof(*gpu));
    struct nuioa_request each = *c->request;
    each.tasks = tasks;
    each.task_count = gpus;
    for (uint32_t g = 0; !c->arena->failed && g < gpus; g++) {
        gpu[g] = g;
        tasks[g] = (struct nuioa_task){ .gpus = &gpu[g], .gpu_count = 1, .gpus_known = true };
    }
    struct chooser all = {
        .rails = c->rails, .request = &each, .assignments = unplaced, .arena = c->arena
    };
    int rc = c->arena->failed ? -ENOMEM : begin(&all);
    if (rc == 0)
        rc = choose_first(&all);
    if (rc == 0)
        rc = share_out(&all);
    c->owner = nuioa_arena_take(c->arena, c->rails->count, sizeof(*c->owner));
    if (rc < 0 || !c->owner)
        return -ENOMEM;
    c->home = all.claims;
    for (uint32_t r = 0; r < c->rails->count; r++) {
        c->owner[r] = NOBODY;
        for (uint32_t g = 0, users = 0; g < gpus; g++)
            if (*has(&all, g, r))
                c->owner[r] = users++ ? NOBODY : g;
    }
    return 0;
}

/* Returns the nearest rail that the rank does not have, of equally near ones that with the least
 * load; NOBODY if it may have no other. */
static uint32_t next_rail(const struct chooser *c, uint32_t local, double weight)
{
    uint32_t best = NOBODY, best_distance = UINT32_MAX;
    double least = 0;
    for (uint32_t r = 0; r < c->rails->count; r++) {
        const uint32_t card = c->rails->card[r];
        double load = (c->card_load[card] + weight) / c->rails->rate[card] + 1e-9 * c->rail_load[r];
        uint32_t distance = UINT32_MAX;
        for (uint32_t i = c->begin[local]; i < c->begin[local + 1]; i++)
            if (c->claims[i].distance[r] < distance)
                distance = c->claims[i].distance[r];
        if (!*has(c, local, r) &&
            (distance < best_distance || (distance == best_distance && load < least))) {
            best = r;
            best_distance = distance;
            least = load;
        }
    }
    return best;
}

/* rails=K: gives each rank further rails, one in each round. */
static void fill_up(struct chooser *c)
{
    const uint32_t wanted = c->request->options->rails;
    for (uint32_t round = 2; round <= wanted && round <= c->rails->count; round++)
        for (uint32_t i = 0; i < c->request->task_count; i++) {
            double weight = c->assignments[i].weight > 0 ? c->assignments[i].weight : 1;
            uint32_t have = 0, rail = next_rail(c, i, weight);
            for (uint32_t r = 0; r < c->rails->count; r++)
                have += *has(c, i, r);
            if (have >= round || rail == NOBODY)
                continue;
            c->card_load[c->rails->card[rail]] += weight;
            use(c, i, rail, weight);
        }
}

/* --- the result ------------------------------------------------------------------------------- */

/* Lists the rails of a rank, as indexes into node->nics: nics[rails]. Returns their number. */
static uint32_t list_nics(const struct chooser *c, uint32_t local, uint32_t *nics)
{
    uint32_t count = 0;
    for (uint32_t i = c->begin[local]; i < c->begin[local + 1]; i++) {
        uint32_t first = c->claims[i].first;
        if (*has(c, local, first))
            nics[count++] = c->rails->nic[first];
        *has(c, local, first) = false;
    }
    for (uint32_t r = 0; r < c->rails->count; r++)
        if (*has(c, local, r))
            nics[count++] = c->rails->nic[r];
    return count;
}

/* Writes which GPUs a rank has, or sees, and its NICs. The arrays belong to `arena`. Returns 0 or
 * -ENOMEM. */
static int write_devices(const struct chooser *c, uint32_t local, struct nuioa_assignment *a,
                         struct nuioa_arena *arena)
{
    const struct nuioa_task *task = &c->request->tasks[local];
    const uint32_t gpus = task->gpus_known ? task->gpu_count : 0;
    a->gpus_known = knows_gpus(c->request, local);
    a->gpu_count = a->seen_count = a->nic_count = a->near_count = 0;
    a->nic = -1;
    a->level = NUIOA_NO_LEVEL;
    a->gpus = nuioa_arena_take(arena, gpus, sizeof(*a->gpus));
    a->seen = nuioa_arena_take(arena, task->seen_count, sizeof(*a->seen));
    a->nics = nuioa_arena_take(arena, c->rails->count, sizeof(*a->nics));
    a->near = nuioa_arena_take(arena, c->rails->count, sizeof(*a->near));
    if (arena->failed)
        return -ENOMEM;
    for (; a->gpu_count < gpus; a->gpu_count++)
        a->gpus[a->gpu_count] = task->gpus[a->gpu_count];
    for (; a->seen_count < task->seen_count; a->seen_count++)
        a->seen[a->seen_count] = task->seen[a->seen_count];
    nuioa_gpus_near_rails(c->rails, a->seen, a->seen_count, a->cpus, c->seen);
    for (uint32_t r = 0; r < c->rails->count; r++)
        if (c->seen[r])
            a->near[a->near_count++] = c->rails->nic[r];
    if (c->rails->count)
        a->nic_count = list_nics(c, local, a->nics);
    if (a->nic_count) {
        a->nic = (int32_t)a->nics[0];
        a->level = nuioa_rail_level(c->rails, c->claims[c->begin[local]].first, a->cpus);
    }
    nuioa_assignment_find_path(a, c->request->node);
    return 0;
}

int nuioa_rails_assign(const struct nuioa_rails *rails, const struct nuioa_request *r,
                       struct nuioa_assignment *assignments, struct nuioa_arena *arena)
{
    struct nuioa_arena own = { 0 };
    struct chooser c = { .rails = rails, .request = r, .assignments = assignments, .arena = &own };
    int rc = begin(&c);
    if (rc == 0 && rails->count && c.any_held)
        rc = find_homes(&c);
    if (rc == 0 && rails->count) {
        qsort(c.order, c.claim_count, sizeof(struct claim *), choosing_order);
        rc = choose_first(&c);
    }
    if (rc == 0 && rails->count && !r->options->rails)
        rc = share_out(&c);
    if (rc == 0)
        fill_up(&c);
    for (uint32_t i = 0; rc == 0 && i < r->task_count; i++)
        rc = write_devices(&c, i, &assignments[i], arena);
    nuioa_arena_free(&own);
    return rc;
}

struct nuioa_assignment *nuioa_rails_assign_all(const struct nuioa_rails *rails,
                                                const struct nuioa_request *request,
                                                const struct nuioa_assignment *placed,
                                                struct nuioa_arena *arena)
{
    struct nuioa_assignment *list = nuioa_arena_take(arena, request->task_count, sizeof(*list));
    for (uint32_t i = 0; list && i < request->task_count; i++) {
        list[i].weight = request->tasks[i].weight;
        list[i].cpus = placed ? placed[i].cpus : (hwloc_bitmap_t)request->tasks[i].cpus;
    }
    return list && nuioa_rails_assign(rails, request, list, arena) == 0 ? list : NULL;
}
