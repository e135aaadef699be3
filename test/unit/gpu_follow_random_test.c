/* SPDX-License-Identifier: BSD-3-Clause */

/* CPUs follow GPUs (option gpus): random machines, masks, GPUs and weights are compared with the
 * best of all permutations, or of all ways to put the ranks on cores. */

#include "slots/slot.h"
#include "plan_case.h"
#include "rounds.h"
#include "topology/pci_path.h"
#include "unit.h"

static uint32_t seed;

static unsigned below(unsigned limit)
{
    return draw(&seed, limit);
}

#define TASKS 6

struct instance {
    struct plan_case *s;
    uint32_t gpus[TASKS][2];
    struct nuioa_pair pairs[TASKS];
    unsigned level[TASKS][TASKS]; /* of a slot from the GPUs of a task */
    double price[TASKS][TASKS];   /* of reaching the NIC of a task's GPU from a slot */
    bool free;                    /* each task may have each slot */
    unsigned numa[TASKS];         /* where slots are NUMA nodes: of each task's mask */
    unsigned room[TASKS];         /* and how many tasks each takes */
};

static void draw_machine(struct plan_case *s)
{
    static const uint32_t values[] = { 12, 20, 20, 30 };
    unsigned numas = 2 + below(3);
    uint32_t matrix[16];
    for (unsigned i = 0; i < numas; i++)
        for (unsigned k = 0; k <= i; k++)
            matrix[i * numas + k] = matrix[k * numas + i] = i == k ? 10 : values[below(4)];
    machine_build(&s->node, &(struct shape){ numas, 3, 1, 1, matrix });
    for (unsigned k = 1 + below(3); k; k--)
        machine_nic(&s->node, k == 1 ? "a" : k == 2 ? "b" : "c", below(numas));
    for (unsigned k = 1 + below(4); k; k--)
        machine_gpu(&s->node, below(numas));
    if (below(2))
        hwloc_bitmap_set(s->node.gpus[0].numas, below(numas));
    if (below(2)) {
        size_t count = (size_t)s->node.gpu_count * s->node.nic_count;
        s->node.paths = malloc(count);
        for (size_t k = 0; k < count; k++)
            s->node.paths[k] = (uint8_t)(NUIOA_PATH_PIX + below(3));
    }
}

/* Masks of one core, some of two; up to two GPUs for each rank. */
static void draw_case(struct instance *in)
{
    struct plan_case *s = in->s = plan_case_new();
    unsigned used = 0;
    draw_machine(s);
    plan_case_on(s, 2 + below(TASKS - 1), 1);
    s->options.asked = true;
    s->options.load_cost = 0; /* the oracle knows distances only */
    s->request.sees_gpu = true;
    s->request.hinted = below(3) > 0;
    for (unsigned i = 0; i < s->request.task_count; i++) {
        hwloc_bitmap_zero(s->masks[i]);
        for (unsigned left = 1; left;) {
            unsigned core = below(s->node.core_count);
            if (used >> core & 1)
                continue;
            used |= 1u << core;
            hwloc_bitmap_set(s->masks[i], core);
            left--;
        }
        s->tasks[i].gpus = in->gpus[i];
        s->tasks[i].gpu_count = below(4) ? 1 : below(3);
        in->gpus[i][0] = below(s->node.gpu_count);
        in->gpus[i][1] = below(s->node.gpu_count);
        s->tasks[i].weight = s->request.hinted ? below(6) : 0;
    }
    if (s->request.task_count < TASKS && s->node.core_count - s->request.task_count > 1)
        for (unsigned i = 0; i < 2; i++) /* two of the masks have a second core */
            for (unsigned core = 0; core < s->node.core_count; core++)
                if (!(used >> core & 1) && below(2)) {
                    hwloc_bitmap_set(s->masks[i], core);
                    used |= 1u << core;
                    break;
                }
}

/* The level of a slot from a GPU or a NIC: that of the farthest of its NUMA nodes, from the nearest
 * of those of the device. */
static unsigned level_of(const struct plan_case *s, hwloc_const_bitmap_t device,
                         hwloc_const_bitmap_t cpus)
{
    unsigned farthest = 0;
    for (unsigned k = 0; k < s->node.numa_count; k++) {
        unsigned nearest = 99;
        for (unsigned d = 0; d < s->node.numa_count; d++)
            if (hwloc_bitmap_isset(device, d) && nuioa_level_at(&s->node.distance, d, k) < nearest)
                nearest = nuioa_level_at(&s->node.distance, d, k);
        if (hwloc_bitmap_intersects(cpus, s->node.numas[k].cpus) && nearest > farthest)
            farthest = nearest;
    }
    return farthest;
}

/* How far a NIC is from a GPU: by path, or else by the level of the GPU's CPUs; a task without a
 * GPU takes any. */
static unsigned reach(const struct plan_case *s, int gpu, unsigned nic)
{
    if (gpu < 0)
        return 0;
    if (s->node.paths)
        return s->node.paths[(unsigned)gpu * s->node.nic_count + nic];
    return level_of(s, s->node.nics[nic].numas, s->node.gpus[gpu].cpus);
}

static unsigned nic_level(const struct plan_case *s, int gpu, hwloc_const_bitmap_t cpus)
{
    unsigned best = 99, level = 99;
    for (unsigned n = 0; n < s->node.nic_count; n++)
        best = reach(s, gpu, n) < best ? reach(s, gpu, n) : best;
    for (unsigned n = 0; n < s->node.nic_count; n++) {
        unsigned here = level_of(s, s->node.nics[n].numas, cpus);
        if (reach(s, gpu, n) == best && here < level)
            level = here;
    }
    return level;
}

/* Fills in levels and prices of `count` slots: the masks, or the NUMA nodes. */
static void measure(struct instance *in, bool numas, unsigned count)
{
    const struct plan_case *s = in->s;
    for (unsigned i = 0; i < s->request.task_count; i++)
        for (unsigned k = 0; k < count; k++) {
            const struct nuioa_task *task = &s->tasks[i];
            hwloc_const_bitmap_t cpus = numas ? s->node.numas[k].cpus : s->masks[k];
            unsigned level = 0, nic = task->gpu_count ? 0 : nic_level(s, -1, cpus);
            for (unsigned g = 0; g < task->gpu_count; g++) {
                unsigned here = level_of(s, s->node.gpus[task->gpus[g]].numas, cpus);
                unsigned reached = nic_level(s, (int)task->gpus[g], cpus);
                level = here > level ? here : level;
                nic = reached > nic ? reached : nic;
            }
            in->level[i][k] = level;
            in->price[i][k] = nic ? 1.30 + 0.05 * (nic - 1) : 1;
        }
}

struct value {
    unsigned worst, total;
    double cost;
};

static struct value value_of(const struct instance *in, const unsigned *slot_of)
{
    const struct plan_case *s = in->s;
    struct value v = { 0, 0, 0 };
    for (unsigned i = 0; i < s->request.task_count; i++) {
        unsigned level = in->level[i][slot_of[i]];
        v.worst = level > v.worst ? level : v.worst;
        v.total += level;
        v.cost += s->tasks[i].weight * in->price[i][slot_of[i]];
    }
    for (unsigned k = 0; k < s->request.pair_count; k++) {
        const struct nuioa_pair *pair = &s->request.pairs[k];
        struct nuioa_location a = nuioa_location_of(&s->node, s->masks[slot_of[pair->first]]),
                              b = nuioa_location_of(&s->node, s->masks[slot_of[pair->second]]);
        v.cost += pair->bytes * nuioa_location_cost(&s->node, &a, &b);
    }
    return v;
}

static bool is_better(const struct value *a, const struct value *b)
{
    if (a->worst != b->worst)
        return a->worst < b->worst;
    if (a->total != b->total)
        return a->total < b->total;
    return a->cost < b->cost - 1e-9;
}

/* Tries all permutations that are allowed from task `i` on, and keeps the best value. */
static void try_all(const struct instance *in, unsigned i, unsigned *slot_of, unsigned used,
                    struct value *best)
{
    const struct plan_case *s = in->s;
    if (i == s->request.task_count) {
        struct value v = value_of(in, slot_of);
        if (is_better(&v, best))
            *best = v;
        return;
    }
    for (unsigned k = 0; k < s->request.task_count; k++) {
        bool allowed = in->level[i][k] <= in->level[i][i] &&
                       hwloc_bitmap_weight(s->masks[k]) == hwloc_bitmap_weight(s->masks[i]);
        if (used >> k & 1 || !(allowed || in->free))
            continue;
        slot_of[i] = k;
        try_all(in, i + 1, slot_of, used | 1u << k, best);
    }
}

/* Finds which rank has which mask. Fails if one is lost. */
static void read_slots(const struct plan_case *s, unsigned *slot_of)
{
    for (unsigned i = 0; i < s->request.task_count; i++) {
        slot_of[i] = 0;
        while (!hwloc_bitmap_isequal(s->masks[slot_of[i]], s->plan.assignments[i].cpus))
            assert_true(++slot_of[i] < s->request.task_count);
        for (unsigned k = 0; k < i; k++)
            assert_int_not_equal(slot_of[k], slot_of[i]);
    }
}

/* The result has the best levels, and without pairs the best cost; or nobody has moved, because
 * every mapping with these levels that was found costs more than Slurm's. Returns true if some rank
 * has moved. */
static bool check_instance(const struct instance *in)
{
    const struct plan_case *s = in->s;
    unsigned own[TASKS] = { 0, 1, 2, 3, 4, 5 }, slot_of[TASKS];
    struct value slurm = value_of(in, own), best = slurm, got;
    bool some = false;
    for (unsigned i = 0; i < s->request.task_count; i++)
        some |= s->tasks[i].gpu_count > 0;
    if (!some)
        return false;
    try_all(in, 0, slot_of, 0, &best);
    read_slots(s, slot_of);
    got = value_of(in, slot_of);
    assert_true(s->plan.after.j > got.cost - 1e-9 && s->plan.after.j < got.cost + 1e-9);
    assert_int_equal(s->plan.gpus_left, 0);
    if (s->plan.why == NUIOA_REASON_FOLLOW_COSTS) {
        assert_false(s->plan.moved);
        assert_true(best.worst < slurm.worst || best.total < slurm.total);
        assert_true(s->request.pair_count || best.cost > slurm.cost);
        return false;
    }
    assert_int_equal(got.worst, best.worst);
    assert_int_equal(got.total, best.total);
    assert_true(got.cost <= slurm.cost + 1e-9 && got.cost >= best.cost - 1e-9);
    assert_true(s->request.pair_count || got.cost <= best.cost + 1e-9);
    return s->plan.moved;
}

TEST(test_random)
{
    unsigned moved = 0, all = (unsigned)rounds(2000);
    for (unsigned round = 0; round < all; round++) {
        struct instance in = { 0 };
        seed = round;
        draw_case(&in);
        measure(&in, false, in.s->request.task_count);
        plan_case_option(in.s, "cores", "keep");
        for (unsigned pairs = 0; pairs < 2; pairs++) {
            struct plan_case *s = in.s;
            for (unsigned k = 1; pairs && k < s->request.task_count; k++)
                in.pairs[k - 1] = (struct nuioa_pair){ below(k), k, below(4) };
            s->request.pairs = in.pairs;
            s->request.pair_count = pairs ? s->request.task_count - 1 : 0;
            plan_case_make(s);
            moved += check_instance(&in);
        }
        plan_case_free(in.s);
    }
    assert_true(moved > all / 4);
}

/* Nobody is said to be beside his GPUs who is not, and nobody is on the farthest NUMA nodes alone
 * who had nearer ones. */
static void check_part(const struct instance *in, unsigned task)
{
    const struct plan_case *s = in->s;
    unsigned nearest = 99, farthest = 0, own_nearest = 99, level = in->level[task][task];
    struct instance numas = *in;
    measure(&numas, true, s->node.numa_count);
    for (unsigned k = 0; k < s->node.numa_count; k++) {
        unsigned here = numas.level[task][k];
        nearest = here < nearest ? here : nearest;
        farthest = here > farthest ? here : farthest;
        if (hwloc_bitmap_intersects(s->masks[task], s->node.numas[k].cpus))
            own_nearest = here < own_nearest ? here : own_nearest;
    }
    assert_true(own_nearest == nearest || level < farthest);
    assert_true(level == nearest || s->plan.why != NUIOA_REASON_FOLLOW_SHARE);
}

/* Ranks that divide a mask are as near to their GPUs as any exchange of the parts allows. */
TEST(test_random_shares)
{
    unsigned shared = 0, kept = 0, all = (unsigned)rounds(1000);
    for (unsigned round = 0; round < all; round++) {
        struct instance in = { 0 };
        seed = round;
        draw_case(&in);
        struct plan_case *s = in.s;
        plan_case_unbind(s);
        plan_case_make(s);
        kept += s->plan.why == NUIOA_REASON_FOLLOW_SHARE_TAKES;
        assert_true(s->plan.moved || s->plan.why != NUIOA_REASON_FOLLOW_SHARE_FAR);
        if (s->plan.moved && s->plan.why >= NUIOA_REASON_FOLLOW_SHARE) {
            unsigned slot_of[TASKS], own[TASKS] = { 0, 1, 2, 3, 4, 5 };
            /* Compared are the parts, which may differ in size by a core. */
            for (unsigned i = 0; i < s->request.task_count; i++)
                hwloc_bitmap_copy(s->masks[i], s->plan.assignments[i].cpus);
            measure(&in, false, s->request.task_count);
            struct value got = value_of(&in, own), best = got;
            in.free = true;
            try_all(&in, 0, slot_of, 0, &best);
            assert_int_equal(got.worst, best.worst);
            assert_int_equal(got.total, best.total);
            assert_true(got.cost <= best.cost + 1e-9);
            assert_int_equal(s->plan.gpus_left, 0);
            for (unsigned i = 0; i < s->request.task_count; i++)
                check_part(&in, i);
            shared++;
        }
        plan_case_free(s);
    }
    assert_true(shared > all / 4 && kept > all / 8);
}

/* --- free cores ------------------------------------------------------------------------------- */

/* Returns the NUMA node of the only core of a set. */
static unsigned numa_of(const struct plan_case *s, hwloc_const_bitmap_t cpus)
{
    unsigned k = 0;
    assert_int_equal(hwloc_bitmap_weight(cpus), 1);
    while (!hwloc_bitmap_isincluded(cpus, s->node.numas[k].cpus))
        assert_true(++k < s->node.numa_count);
    return k;
}

/* A NUMA node takes the tasks that are there, and where it is nearer for some task as many as it
 * has cores. */
static void find_room(struct instance *in)
{
    const struct plan_case *s = in->s;
    for (unsigned i = 0; i < s->request.task_count; i++)
        in->room[in->numa[i] = numa_of(s, s->masks[i])]++;
    measure(in, true, s->node.numa_count);
    for (unsigned k = 0; k < s->node.numa_count; k++)
        for (unsigned i = 0; i < s->request.task_count; i++)
            if (in->level[i][k] < in->level[i][in->numa[i]])
                in->room[k] = 3;
}

static void try_numas(struct instance *in, unsigned i, unsigned *at, struct value *best)
{
    if (i == in->s->request.task_count) {
        struct value v = value_of(in, at);
        if (is_better(&v, best))
            *best = v;
        return;
    }
    for (unsigned k = 0; k < in->s->node.numa_count; k++) {
        if (!in->room[k] || in->level[i][k] > in->level[i][in->numa[i]])
            continue;
        in->room[k]--;
        at[i] = k;
        try_numas(in, i + 1, at, best);
        in->room[k]++;
    }
}

/* Ranks with masks of one core each go to the best free ones; if that costs more, none does. */
TEST(test_random_free)
{
    unsigned moved = 0, all = (unsigned)rounds(2000);
    hwloc_bitmap_t used = hwloc_bitmap_alloc();
    for (unsigned round = 0; round < all; round++) {
        struct instance in = { 0 };
        unsigned at[TASKS];
        seed = round;
        draw_case(&in);
        struct plan_case *s = in.s;
        for (unsigned i = 0; i < s->request.task_count; i++)
            hwloc_bitmap_singlify(s->masks[i]);
        find_room(&in);
        struct value slurm = value_of(&in, in.numa), best = slurm;
        try_numas(&in, 0, at, &best);
        plan_case_make(s);
        hwloc_bitmap_zero(used);
        for (unsigned i = 0; i < s->request.task_count; i++) {
            at[i] = numa_of(s, s->plan.assignments[i].cpus);
            assert_false(hwloc_bitmap_intersects(used, s->plan.assignments[i].cpus));
            hwloc_bitmap_or(used, used, s->plan.assignments[i].cpus);
        }
        struct value got = value_of(&in, at);
        assert_true(got.cost <= slurm.cost + 1e-9);
        if (best.cost <= slurm.cost + 1e-9) {
            assert_int_equal(got.worst, best.worst);
            assert_int_equal(got.total, best.total);
        }
        moved += s->plan.why == NUIOA_REASON_FOLLOW_FREE;
        plan_case_free(s);
    }
    hwloc_bitmap_free(used);
    assert_true(moved > all / 4);
}
