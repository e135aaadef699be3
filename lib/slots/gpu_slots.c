/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/gpu_slots.h"

#include <errno.h>
#include <math.h>

#include "slots/core.h"
#include "nics/gpu_distance.h"
#include "slots/slot_pack.h"
#include "slots/free_cores.h"
#include "util/clock.h"

#define NOBODY UINT32_MAX

/* Slots of one place are equal for every task: they have the same kind and the same NUMA nodes. */
struct place {
    uint32_t sample; /* one slot of it */
    uint32_t room;   /* how many slots it has */
    /* These serve the solver of the transportation problem: */
    uint32_t left;    /* the room that is left */
    uint32_t mover;   /* the task that comes from the place before it on the path; NOBODY: none */
    int64_t distance; /* the cost of the path to it so far; INT64_MAX: none */
};

/* A place for a task. */
struct cell {
    uint32_t level; /* from the task's GPUs; NUIOA_NO_LEVEL: the place is not for this task */
    double price;   /* of reaching the task's NIC */
    int64_t cost;   /* INT64_MAX: the task may not go there */
};

struct follow {
    const struct nuioa_basis *basis;
    struct nuioa_slots *slots;
    uint32_t *slot_of;  /* [n]: the result */
    uint32_t n, places; /* n: tasks */
    uint32_t *start;    /* [slots]: the place of each, where the task of that number starts */
    uint32_t *place;    /* [n]: the place that each task gets */
    uint32_t *group;    /* [n]: the first of the tasks with which each may exchange its slot */
    bool *used;         /* [slots]: some task has it */
    struct place *list; /* [places] */
    struct cell *cells; /* [n * places] */
};

static struct cell *cell_of(const struct follow *f, uint32_t task, uint32_t place)
{
    return &f->cells[(size_t)task * f->places + place];
}

/* Numbers the places. */
static void find_places(struct follow *f, const struct nuioa_node *node)
{
    const struct nuioa_slots *s = f->slots;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t k = 0;
        for (bool meet; k < f->places; k++)
            if (s->kind[f->list[k].sample] == s->kind[i] &&
                nuioa_same_numas(node, s->cpus[f->list[k].sample], s->cpus[i], &meet))
                break;
        if (k == f->places)
            f->list[f->places++].sample = i;
        f->start[i] = k;
        f->list[k].room++;
    }
}

static int follow_alloc(struct follow *f)
{
    struct nuioa_arena *arena = f->basis->arena;
    const struct nuioa_node *node = f->basis->request->node;
    f->start = nuioa_arena_take(arena, f->slots->count, sizeof(*f->start));
    f->place = nuioa_arena_take(arena, f->n, sizeof(*f->place));
    f->group = nuioa_arena_take(arena, f->n, sizeof(*f->group));
    f->used = nuioa_arena_take(arena, f->slots->count, sizeof(*f->used));
    f->list = nuioa_arena_take(arena, f->slots->count, sizeof(*f->list));
    if (arena->failed)
        return -ENOMEM;
    nuioa_slots_find_parts(f->slots, f->n);
    find_places(f, node);
    f->cells = nuioa_arena_take(arena, (size_t)f->n * f->places, sizeof(*f->cells));
    return arena->failed ? -ENOMEM : 0;
}

/* Computes levels and prices. Returns the highest level that a task may have. */
static uint32_t find_levels(struct follow *f)
{
    const struct nuioa_request *r = f->basis->request;
    uint32_t highest = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t now = nuioa_gpu_level(r->node, &r->tasks[i], r->tasks[i].cpus);
        highest = now > highest ? now : highest;
        for (uint32_t k = 0; k < f->places; k++) {
            uint32_t slot = f->list[k].sample;
            uint32_t level = nuioa_gpu_level(r->node, &r->tasks[i], f->slots->cpus[slot]);
            bool fits = slot >= f->n || f->slots->kind[slot] == f->slots->kind[i];
            *cell_of(f, i, k) = (struct cell){
                .level = fits && level <= now ? level : NUIOA_NO_LEVEL,
                .price = nuioa_nic_price(f->basis, i, f->slots->cpus[slot]),
            };
        }
    }
    return highest;
}

/* Returns an upper bound on the part of J that belongs to the NICs; 0 if it is too large for a
 * double. */
static double highest_price(const struct follow *f)
{
    double sum = 0, price = 0;
    for (size_t cell = 0; cell < (size_t)f->n * f->places; cell++)
        price = fmax(price, f->cells[cell].price);
    for (uint32_t i = 0; i < f->n; i++)
        sum += f->basis->request->tasks[i].weight;
    return isfinite(sum * price) ? sum * price : 0;
}

/* Writes level, price and move of a task as the digits of one number, so that a lower digit counts
 * only among equals: integers have no rounding errors, which would move tasks without a gain. With
 * pairs prices do not count, because their sum is not J. No task may be above level `worst`. */
static void find_costs(struct follow *f, uint32_t worst)
{
    const struct nuioa_request *r = f->basis->request;
    int64_t moves = (int64_t)f->n + 1;
    int64_t prices = ((int64_t)1 << 59) / moves / moves / (worst + 1);
    double all = highest_price(f);
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = 0; k < f->places; k++) {
            struct cell *cell = cell_of(f, i, k);
            double part = all > 0 && !r->pair_count ? r->tasks[i].weight * cell->price / all : 0;
            int64_t price = (int64_t)(part * (double)(prices - 1));
            cell->cost = INT64_MAX;
            if (cell->level <= worst)
                cell->cost = (cell->level * prices + price) * moves + (f->start[i] != k);
        }
}

/* --- the transportation problem --------------------------------------------------------------- */

/* Each task goes to one place, each place has room for some tasks, and the sum of costs is the
 * least possible (F. L. Hitchcock, "The Distribution of a Product from Several Sources to Numerous
 * Localities", 1941). Tasks enter one by one, each by a shortest augmenting path: it goes to a
 * place, a task of that place to another place, and so on, until a place has room. */

/* Makes the paths through place `from` shorter where one of its tasks below `task` can go on.
 * Returns true if it can. */
static bool extend_paths(struct follow *f, uint32_t task, uint32_t from)
{
    bool shorter = false;
    for (uint32_t i = 0; f->list[from].distance != INT64_MAX && i < task; i++)
        for (uint32_t to = 0; f->place[i] == from && to < f->places; to++) {
            int64_t here = f->list[from].distance - cell_of(f, i, from)->cost,
                    there = cell_of(f, i, to)->cost;
            if (to == from || there == INT64_MAX || here + there >= f->list[to].distance)
                continue;
            f->list[to].distance = here + there;
            f->list[to].mover = i;
            shorter = true;
        }
    return shorter;
}

/* Finds the shortest paths to all places (Bellman-Ford). There is no cycle of negative cost,
 * because the tasks that have places have the best ones. Returns 0 or -ETIME. */
static int find_paths(struct follow *f, uint32_t task)
{
    const uint64_t until = f->basis->request->cpu_until_us;
    bool shorter = true;
    for (uint32_t k = 0; k < f->places; k++) {
        f->list[k].distance = cell_of(f, task, k)->cost;
        f->list[k].mover = NOBODY;
    }
    for (uint32_t round = 0; shorter && round < f->places; round++) {
        shorter = false;
        if (until && nuioa_cpu_us() > until)
            return -ETIME;
        for (uint32_t from = 0; from < f->places; from++)
            shorter |= extend_paths(f, task, from);
    }
    return 0;
}

/* Gives `task` a place, by the shortest path that ends in a place with room. The tasks before it
 * have places. Returns 0, -ENOSPC or -ETIME. */
static int enter(struct follow *f, uint32_t task)
{
    uint32_t end = NOBODY;
    if (find_paths(f, task) < 0)
        return -ETIME;
    for (uint32_t k = 0; k < f->places; k++)
        if (f->list[k].left && f->list[k].distance != INT64_MAX &&
            (end == NOBODY || f->list[k].distance < f->list[end].distance))
            end = k;
    if (end == NOBODY)
        return -ENOSPC;
    f->list[end].left--;
    for (uint32_t mover; (mover = f->list[end].mover) != NOBODY;) {
        uint32_t from = f->place[mover];
        f->place[mover] = end;
        end = from;
    }
    f->place[task] = end;
    return 0;
}

/* Solves the problem: an exact optimum, and equal input gives an equal result. Returns 0; -ENOSPC
 * if not every task can have a place; or -ETIME. */
static int transport(struct follow *f)
{
    int rc = 0;
    for (uint32_t k = 0; k < f->places; k++)
        f->list[k].left = f->list[k].room;
    for (uint32_t i = 0; rc == 0 && i < f->n; i++)
        rc = enter(f, i);
    return rc;
}

/* --- places, and slots of them ---------------------------------------------------------------- */

/* Finds the place of each task, with the lowest worst level for which there is one. Places above it
 * are no longer the task's. */
static int choose_places(struct follow *f)
{
    uint32_t highest = find_levels(f), worst = 0;
    int rc = -ENOSPC;
    for (; rc == -ENOSPC && worst <= highest; worst++) {
        find_costs(f, worst);
        rc = transport(f);
    }
    for (size_t cell = 0; cell < (size_t)f->n * f->places; cell++)
        if (f->cells[cell].level >= worst)
            f->cells[cell].level = NUIOA_NO_LEVEL;
    return rc;
}

/* Gives each task a slot of its place: its own if it stays in its place, else a free one. */
static void choose_slots(const struct follow *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        f->used[i] = f->place[i] == f->start[i];
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t s = 0;
        while (f->place[i] != f->start[i] && (f->used[s] || f->start[s] != f->place[i]))
            s++;
        f->slot_of[i] = f->place[i] == f->start[i] ? i : s;
        f->used[f->slot_of[i]] = true;
    }
}

/* Returns true if it changes neither the sum of their levels nor a price whether task `a` has its
 * place and task `b` has `place`, or the other way round. */
static bool is_even(const struct follow *f, uint32_t a, uint32_t b, uint32_t place)
{
    const struct cell *a_here = cell_of(f, a, f->place[a]), *a_there = cell_of(f, a, place);
    const struct cell *b_here = cell_of(f, b, place), *b_there = cell_of(f, b, f->place[a]);
    return a_there->level != NUIOA_NO_LEVEL && b_here->level != NUIOA_NO_LEVEL &&
           b_there->level != NUIOA_NO_LEVEL && a_there->price == b_here->price &&
           a_there->level + b_there->level == a_here->level + b_here->level;
}

/* Returns true if a task can join the group of task `first`, whose tasks below `task` have it as
 * their group: every permutation of their places is as good for the GPUs. */
static bool joins(const struct follow *f, uint32_t first, uint32_t task)
{
    for (uint32_t m = 0; m < task; m++)
        if (f->group[m] == first &&
            !(is_even(f, first, m, f->place[task]) && is_even(f, first, task, f->place[m])))
            return false;
    return is_even(f, first, task, f->place[task]);
}

/* Gives lower ranks of a group the nearer and larger of its slots, if these are parts of a mask: no
 * rank leaves a place of its own then. */
static void order_parts(const struct follow *f)
{
    const struct nuioa_slots *s = f->slots;
    for (uint32_t a = 0; a < f->n; a++)
        for (uint32_t b = a + 1; b < f->n; b++) {
            uint32_t slot = f->slot_of[a], other = f->slot_of[b];
            if (s->kind[slot] != s->kind[other] || s->tie[slot] <= s->tie[other] ||
                hwloc_bitmap_isequal(s->cpus[a], f->basis->request->tasks[a].cpus))
                continue;
            f->slot_of[a] = other;
            f->slot_of[b] = slot;
        }
}

/* Groups tasks that may exchange their slots, and prices the slots for the group that has them. */
static void group_tasks(const struct follow *f)
{
    for (uint32_t s = 0; s < f->slots->count; s++)
        f->slots->kind[s] = f->n; /* no group: nobody gets what is left */
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t slot = f->slot_of[i], place = f->place[i], first = 0;
        uint32_t size = (uint32_t)hwloc_bitmap_weight(f->slots->cpus[slot]);
        while (first < i && !(f->group[first] == first && joins(f, first, i)))
            first++;
        f->group[i] = first;
        f->slots->kind[slot] = first;
        f->slots->nic_cost[slot] = cell_of(f, i, place)->price;
        f->slots->tie[slot] = cell_of(f, first, place)->level << 24 | f->slots->tie[slot] << 14 |
                              (size < 0x3fff ? 0x3fff - size : 0);
    }
    order_parts(f);
}

int nuioa_gpu_follow(const struct nuioa_basis *basis, struct nuioa_slots *slots, uint32_t *slot_of)
{
    struct follow f = {
        .basis = basis, .slots = slots, .slot_of = slot_of, .n = basis->request->task_count
    };
    int rc = follow_alloc(&f);
    if (rc == 0)
        rc = choose_places(&f);
    if (rc < 0)
        return rc;
    choose_slots(&f);
    group_tasks(&f);
    return 0;
}

bool nuioa_gpu_follow_takes(const struct nuioa_basis *b, const struct nuioa_slots *slots,
                            const uint32_t *slot_of)
{
    const struct nuioa_node *node = b->request->node;
    for (uint32_t i = 0; i < b->request->task_count; i++) {
        const struct nuioa_task *task = &b->request->tasks[i];
        hwloc_const_bitmap_t cpus = slots->cpus[slot_of[i]];
        if (nuioa_gpu_nearest(node, task, cpus) > nuioa_gpu_nearest(node, task, task->cpus) &&
            nuioa_gpu_level(node, task, cpus) == nuioa_gpu_level(node, task, task->cpus))
            return true;
    }
    return false;
}

/* Returns the CPUs that the only rank may have: of its own mask, and if Slurm bound it also free
 * cores of the step. NULL: out of memory. */
static hwloc_const_bitmap_t find_among(const struct nuioa_basis *b, hwloc_const_bitmap_t own)
{
    if (nuioa_unbound(b) || nuioa_free_cores_refused(b) != NUIOA_REASON_NONE)
        return own;
    hwloc_bitmap_t among = nuioa_free_cores_find(b, b->allowed_cpus);
    return among && hwloc_bitmap_or(among, among, own) == 0 ? among : NULL;
}

int nuioa_gpu_follow_alone(const struct nuioa_basis *b, const struct nuioa_slots *own,
                           struct nuioa_slots *slots)
{
    const struct nuioa_request *r = b->request;
    bool wide = nuioa_unbound(b);
    uint32_t now = nuioa_gpu_level(r->node, r->tasks, own->cpus[0]);
    uint32_t count = wide ? r->cpus_typed : (uint32_t)hwloc_bitmap_weight(own->cpus[0]);
    hwloc_const_bitmap_t among = find_among(b, own->cpus[0]);
    hwloc_bitmap_t near = nuioa_arena_bitmap(b->arena, NULL);
    int rc = near && among ? -ENOSPC : -ENOMEM;
    for (uint32_t level = 0; rc == -ENOSPC && level < now + wide; level++) {
        rc = nuioa_gpu_near(r->node, r->tasks, among, level, near);
        if (rc == 0)
            rc = nuioa_slots_pack(slots, b, near, count);
        if (rc == 0 && (wide ? hwloc_bitmap_isequal(slots->cpus[0], own->cpus[0])
                             : slots->kind[0] != own->kind[0]))
            rc = -ENOSPC;
    }
    return rc;
}
