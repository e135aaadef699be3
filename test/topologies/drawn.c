/* SPDX-License-Identifier: BSD-3-Clause */

/* Reads requests on machines of at most 8 cores from stdin, a line each, as drawn.py writes them:
 * the topology, the CPUs of the step, 1 if there are hints, 1 if each rank has a GPU, 1 to search,
 * the number of ranks, and for each its CPUs, weight, GPU, and CPUs in another plan; sets are
 * hexadecimal. Prints for each: 1 if ranks moved; 1 if the plan is better than Slurm's masks; 1 if
 * the other one is; what is wrong; a better placement if nobody moved; the reason; the ranks' CPUs.
 * Better: without hints the lowest rank is nearer a NIC, with hints J is lower, with GPUs the
 * farthest rank is nearer its own, or all in sum are. Only levels and prices are the planner's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nics/gpu_distance.h"
#include "plan/plan.h"
#include "topology/node_load.h"

#define RANKS 8
#define foreach(i, n) for (unsigned i = 0; i < (n); i++)

typedef uint64_t set_t; /* CPUs, or NUMA nodes by their index */

static struct nuioa_node node;
static set_t core_cpus[64], numa_cpus[64];

static struct {
    unsigned ranks, hinted, gpus, search;
    bool divided; /* all ranks have the same CPUs */
    set_t step, masks, was[RANKS], is[RANKS], other[RANKS];
    double weight[RANKS];
    uint32_t gpu[RANKS];
    struct nuioa_plan plan;
} d;

static unsigned count(set_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

static set_t numas(set_t cpus)
{
    set_t in = 0;
    foreach (n, node.numa_count)
        in |= cpus & numa_cpus[n] ? UINT64_C(1) << n : 0;
    return in;
}

/* All CPUs of the cores of which some are in `cpus`; and how many cores these are. */
static set_t whole(set_t cpus)
{
    set_t all = 0;
    foreach (c, node.core_count)
        all |= cpus & core_cpus[c] ? core_cpus[c] : 0;
    return all;
}

static unsigned cores(set_t cpus)
{
    return count(whole(cpus)) / count(core_cpus[0]);
}

/* The most ranks that one of these sets has. */
static unsigned most_on(const set_t *sets, unsigned number, const set_t *of)
{
    unsigned most = 0;
    foreach (k, number) {
        unsigned ranks = 0;
        foreach (i, d.ranks)
            ranks += (of[i] & sets[k]) != 0;
        most = ranks > most ? ranks : most;
    }
    return most;
}

static unsigned sharers(const set_t *of, unsigned rank)
{
    unsigned ranks = 0;
    foreach (i, d.ranks)
        ranks += of[i] == of[rank];
    return ranks;
}

/* The number of a rank's CPUs; or its part of them, if others have the same. */
static unsigned part(const set_t *of, unsigned rank)
{
    return count(of[rank]) / sharers(of, rank);
}

static hwloc_bitmap_t bitmap(set_t cpus)
{
    hwloc_bitmap_t out = hwloc_bitmap_alloc();
    hwloc_bitmap_from_ulong(out, cpus);
    return out;
}

static struct nuioa_plan plan_for(const set_t *masks)
{
    struct nuioa_options options;
    struct nuioa_task tasks[RANKS];
    struct nuioa_error err;
    struct nuioa_plan plan;
    hwloc_bitmap_t step = bitmap(d.step), cpus[RANKS];
    nuioa_options_init(&options);
    options.mode = NUIOA_ON;
    options.asked = true;
    nuioa_options_finish(&options);
    foreach (i, d.ranks)
        tasks[i] = (struct nuioa_task){ .rank = i,
                                        .weight = d.hinted ? d.weight[i] : 0,
                                        .cpus = cpus[i] = bitmap(masks[i]),
                                        .gpus = &d.gpu[i],
                                        .gpu_count = d.gpus,
                                        .gpus_known = true };
    struct nuioa_request request = { &node, &options, d.ranks, tasks, .allowed_cpus = step };
    request.hinted = d.hinted;
    request.sees_gpu = d.gpus;
    if (nuioa_plan_make(&request, &plan, &err) < 0) {
        fprintf(stderr, "drawn: %s\n", err.text);
        exit(1);
    }
    foreach (i, d.ranks)
        hwloc_bitmap_free(cpus[i]);
    hwloc_bitmap_free(step);
    return plan;
}

static double price(const set_t *masks)
{
    struct nuioa_plan plan = plan_for(masks);
    double j = plan.before.j;
    nuioa_plan_free(&plan);
    return j;
}

/* The level of these NUMA nodes from the nearest NIC: that of the farthest of them. */
static unsigned nic_level(set_t in)
{
    unsigned best = 255;
    foreach (k, d.plan.usable.count) {
        const uint8_t *level = node.nics[d.plan.usable.nics[k]].level;
        unsigned worst = 0;
        foreach (n, level ? node.numa_count : 0)
            worst = in >> n & 1 && level[n] > worst ? level[n] : worst;
        best = worst < best ? worst : best;
    }
    return best;
}

#define level_of(of, rank) nic_level(numas((of)[rank]))

static unsigned gpu_level(unsigned rank, set_t cpus)
{
    hwloc_bitmap_t set = bitmap(cpus);
    struct nuioa_task task = { .gpus = &d.gpu[rank], .gpu_count = 1, .gpus_known = true };
    unsigned level = nuioa_gpu_level(&node, &task, set);
    hwloc_bitmap_free(set);
    return level;
}

/* The level of the rank that is farthest from its GPU counts most, then the sum. */
static unsigned gpu_levels(const set_t *of)
{
    unsigned worst = 0, sum = 0;
    foreach (i, d.ranks) {
        unsigned level = gpu_level(i, of[i]);
        worst = level > worst ? level : worst;
        sum += level;
    }
    return worst * 1000 + sum;
}

/* How far ranks are from the next one, and wide ones from themselves. */
static double separation(const set_t *of)
{
    double sum = 0;
    foreach (k, 2 * d.ranks - 1) {
        set_t a = numas(of[k / 2]), b = numas(of[(k + 1) / 2]);
        double pair = 0;
        foreach (m, node.numa_count)
            foreach (n, node.numa_count)
                if (a >> m & 1 && b >> n & 1)
                    pair += nuioa_distance_at(&node.distance, m, n) +
                            nuioa_distance_at(&node.distance, n, m);
        sum += pair / count(a) / count(b);
    }
    return sum;
}

static struct {
    unsigned count, uses[64], users; /* ranks in each slot; how many may be in one */
    set_t slots[64], to[RANKS], best[RANKS];
    unsigned level; /* of rank 0: what may not be exceeded */
    unsigned gpus;  /* gpu_levels of the best */
    double j;       /* of the best */
    const char *kind;
} s;

static unsigned shape(set_t cpus)
{
    return cores(cpus) << 16 | count(cpus) << 8 | count(numas(cpus));
}

/* Slurm's masks, and where these have one shape, on one NUMA node, free cores. A rank alone may
 * have its own cores in another slot, too. */
static void make_slots(void)
{
    bool alike = d.ranks == 1 || count(numas(d.was[0])) == 1;
    set_t open = d.step & ~(d.ranks == 1 ? 0 : whole(d.masks));
    memset(&s, 0, sizeof(s));
    foreach (i, d.ranks) {
        s.users = sharers(d.was, i) > s.users ? sharers(d.was, i) : s.users;
        s.slots[s.count++] = d.was[i];
        foreach (k, s.count - 1)
            if (s.slots[k] == d.was[i])
                s.count--;
        alike &= shape(d.was[i]) == shape(d.was[0]);
    }
    foreach (n, alike ? node.numa_count : 0) {
        set_t slot = 0;
        foreach (c, node.core_count) {
            set_t cpus = core_cpus[c] & open & numa_cpus[n];
            slot |= count(d.was[0]) == cores(d.was[0]) ? cpus & -cpus : cpus;
            if (slot && cores(slot) == cores(d.was[0])) {
                s.slots[s.count++] = slot;
                slot = 0;
            }
        }
    }
}

/* Without hints: "free" if nobody is farther, "trade" if only the ranks of rank 0's NUMA node and
 * of one that has no more of them have changed places; else NULL. Blocks do not come together. */
static const char *kind_of_blocks(void)
{
    const set_t from = numas(d.was[0]), target = numas(s.to[0]);
    bool loses = false, joins = false, trades = true;
    foreach (i, d.ranks) {
        set_t was = numas(d.was[i]), is = numas(s.to[i]);
        loses |= nic_level(is) > nic_level(was);
        trades &= was == is || was == from || (was == target && is == from);
        foreach (k, i)
            joins |= is & numas(s.to[k]) && !(was & numas(d.was[k]));
    }
    trades &= most_on(&numa_cpus[__builtin_ctzll(from)], 1, d.was) >=
              most_on(&numa_cpus[__builtin_ctzll(target)], 1, d.was);
    if (joins || separation(s.to) > separation(d.was) * (1 + 1e-9))
        return NULL;
    return !loses ? "free" : trades ? "trade" : NULL;
}

static void judge(void)
{
    double nic = 0;
    if (!d.gpus &&
        most_on(numa_cpus, node.numa_count, s.to) > most_on(numa_cpus, node.numa_count, d.was))
        return;
    foreach (i, d.ranks) {
        unsigned level = level_of(s.to, i);
        nic += d.weight[i] * (level ? 1.30 + 0.05 * (level - 1) : 1);
        if (part(s.to, i) < part(d.was, i))
            return;
    }
    unsigned gpus = d.gpus ? gpu_levels(s.to) : 0;
    const char *kind = d.gpus ? "near GPUs" : d.hinted ? "lower J" : kind_of_blocks();
    if (!kind || gpus > s.gpus || (d.hinted && !d.gpus && nic >= s.j * (1 - 1e-9)) ||
        (!d.hinted && !d.gpus &&
         (level_of(s.to, 0) > s.level || (s.kind && strcmp(kind, s.kind) > 0))))
        return;
    double j = d.gpus || (d.hinted && d.plan.usable.count > 1) ? price(s.to) : nic;
    if (gpus == s.gpus && (d.gpus || d.hinted) && j >= s.j * (1 - 1e-9))
        return;
    s.j = j;
    s.gpus = gpus;
    s.level = level_of(s.to, 0);
    s.kind = kind;
    memcpy(s.best, s.to, sizeof(s.best));
}

/* May this rank, after those before it, have slot k? Without hints ranks of a NUMA node stay
 * together. Of slots that are alike only the first one is tried. */
static bool may_have(unsigned rank, unsigned k)
{
    set_t slot = s.slots[k], in = numas(slot);
    unsigned users = 0; /* masks are exchanged, or all ranks of a NUMA node move */
    foreach (i, d.ranks)
        users += d.was[i] == slot;
    users = d.hinted || d.gpus ? users + !users : s.users;
    if (s.uses[k] == users || (d.ranks > 1 && shape(slot) != shape(d.was[rank])) ||
        (d.gpus && gpu_level(rank, slot) > gpu_level(rank, d.was[rank])))
        return false;
    foreach (e, s.users == 1 ? k : 0)
        if (!s.uses[e] && numas(s.slots[e]) == in && shape(s.slots[e]) == shape(slot))
            return false;
    foreach (i, d.hinted || d.gpus ? 0 : rank)
        if (numas(d.was[i]) == numas(d.was[rank]) && numas(s.to[i]) != in)
            return false;
    return true;
}

static void try_slots(unsigned rank)
{
    if (rank == d.ranks)
        judge();
    foreach (k, rank < d.ranks ? s.count : 0)
        if (may_have(rank, k)) {
            s.uses[k]++;
            s.to[rank] = s.slots[k];
            try_slots(rank + 1);
            s.uses[k]--;
        }
}

/* Finds the best placement, in s.best: no NUMA node has more ranks than some one had, except with
 * GPUs; no rank has fewer CPUs; without hints rank 0 is at `level` or nearer, and neighbours are as
 * near as they were; with GPUs J is not higher. Returns its kind, or NULL if there is none. */
static const char *search(unsigned level)
{
    make_slots();
    s.level = level;
    s.j = d.plan.before.j;
    s.gpus = d.gpus ? gpu_levels(d.was) : 0;
    try_slots(0);
    return d.gpus && s.j > d.plan.before.j * (1 + 1e-9) ? NULL : s.kind;
}

static bool is_better(const set_t *of)
{
    foreach (i, d.gpus && !d.divided ? d.ranks : 0)
        if (gpu_level(i, of[i]) > gpu_level(i, d.was[i]))
            return false;
    if (d.gpus && gpu_levels(of) != gpu_levels(d.was))
        return gpu_levels(of) < gpu_levels(d.was);
    return d.hinted ? price(of) < d.plan.before.j * (1 - 1e-9)
                    : level_of(of, 0) < level_of(d.was, 0);
}

/* Whether a part of the ranks' common CPUs is nearer a NIC than all of these together. */
static bool parts_are_nearer(void)
{
    foreach (n, node.numa_count)
        if (d.was[0] & numa_cpus[n] && nic_level(UINT64_C(1) << n) < level_of(d.was, 0))
            return true;
    return false;
}

static const char *wrong_share(void)
{
    unsigned nearer = 0;
    set_t beside = 0;
    foreach (n, node.numa_count)
        beside |= d.is[0] & numa_cpus[n] ? d.was[0] & numa_cpus[n] : 0;
    foreach (i, d.ranks) {
        unsigned near = 255, nearest = 255;
        if (cores(d.is[i]) < cores(d.was[0]) / d.ranks || whole(d.is[i]) != d.is[i])
            return "less than a fair share";
        nearer += d.gpus && gpu_level(i, d.is[i]) < gpu_level(i, d.was[i]);
        foreach (n, d.gpus ? node.numa_count : 0) {
            unsigned level = d.was[0] & numa_cpus[n] ? gpu_level(i, numa_cpus[n]) : 255;
            nearest = level < nearest ? level : nearest;
            near = d.is[i] & numa_cpus[n] && level < near ? level : near;
        }
        if (near > nearest && gpu_level(i, d.is[i]) >= gpu_level(i, d.was[i]))
            return "a rank has lost the CPUs near its GPU";
    }
    foreach (i, d.hinted ? 0 : d.ranks)
        if (cores(d.is[i]) > cores(d.is[0]) && cores(d.is[i]) <= cores(beside) &&
            (!d.gpus || d.is[i] & beside))
            return "the lowest rank has the smallest part";
    if (strstr(d.plan.reason, "each near its GPU") && gpu_levels(d.is))
        return "not all are near their GPUs, as it says";
    return nearer || parts_are_nearer() ? NULL : "divided, and nobody is nearer";
}

/* How much two ranks share: 0 a core, 1 an L2, 2 an L3, 3 nothing. */
static unsigned unit(const set_t *of, unsigned a, unsigned b)
{
    unsigned best = 3;
    foreach (k, node.pu_count * node.pu_count) {
        const struct nuioa_pu *p = &node.pus[k / node.pu_count], *q = &node.pus[k % node.pu_count];
        unsigned shared = (p->core != q->core) + (p->l2 != q->l2) + (p->l3 != q->l3);
        if (of[a] >> p->os_index & of[b] >> q->os_index & 1 && shared < best)
            best = shared;
    }
    return best;
}

static const char *wrong_blocks(void)
{
    bool loses = false;
    foreach (i, d.ranks) {
        loses |= level_of(d.is, i) > level_of(d.was, i);
        foreach (k, i)
            if (d.is[i] & ~d.masks && d.is[k] & ~d.masks && numas(d.was[i]) == numas(d.was[k]) &&
                unit(d.is, i, k) != unit(d.was, i, k))
                return "ranks share another cache";
    }
    if (level_of(d.is, 0) > level_of(d.was, 0))
        return "the lowest rank is farther";
    if (loses && separation(d.is) > separation(d.was) * (1 + 1e-9))
        return "neighbours are farther apart, and another rank is farther";
    const char *kind = loses && d.search ? search(level_of(d.is, 0)) : NULL;
    return kind && *kind == 'f' ? "another rank is farther, which need not be" : NULL;
}

static const char *wrong_plan(void)
{
    const bool parts = d.divided && d.plan.moved;
    if (d.plan.after.j > d.plan.before.j * (1 + 1e-9))
        return "J has risen";
    foreach (i, d.ranks) {
        if (d.is[i] & ~d.step || (d.is[i] & ~d.masks & whole(d.masks)))
            return "a CPU that is not free";
        if (!parts && (part(d.is, i) < part(d.was, i) || cores(d.is[i]) < cores(d.was[i])))
            return "fewer CPUs to itself";
        if (d.gpus && !parts && gpu_level(i, d.is[i]) > gpu_level(i, d.was[i]))
            return "a rank is farther from its GPU";
    }
    if (most_on(core_cpus, node.core_count, d.is) >
        (parts ? 1 : most_on(core_cpus, node.core_count, d.was)))
        return "a core twice";
    if (!parts && !d.gpus &&
        most_on(numa_cpus, node.numa_count, d.is) > most_on(numa_cpus, node.numa_count, d.was))
        return "more ranks on a NUMA node";
    if (parts)
        return wrong_share();
    return d.plan.moved && !d.hinted && !d.gpus ? wrong_blocks() : NULL;
}

/* Prints "trade: 0 1 0 > 1 0 1", the NUMA nodes of ranks now and in a better placement. */
static void print_better(void)
{
    unsigned level = level_of(d.was, 0);
    if (d.plan.moved || !d.search)
        return;
    if (d.divided) {
        if (!d.gpus && parts_are_nearer() && cores(d.was[0]) >= d.ranks &&
            (!d.hinted || d.plan.usable.count == 1))
            printf("divide");
        return;
    }
    if ((!level && !d.hinted && !d.gpus) || !search(level ? level - 1 : 0))
        return;
    printf("%s:", s.kind);
    foreach (i, 2 * d.ranks) {
        set_t in = numas(i < d.ranks ? d.was[i] : s.best[i - d.ranks]);
        printf(i == d.ranks ? " >" : "");
        foreach (n, node.numa_count)
            if (in >> n & 1)
                printf("%s%u", in & ((UINT64_C(1) << n) - 1) ? "+" : " ", node.numas[n].os_index);
    }
}

static void load(const char *file)
{
    struct nuioa_error err;
    nuioa_node_free(&node);
    memset(core_cpus, 0, sizeof(core_cpus));
    memset(numa_cpus, 0, sizeof(numa_cpus));
    if (nuioa_node_load(&node, &(struct nuioa_source){ .topology = file }, &err) < 0) {
        fprintf(stderr, "drawn: %s: %s\n", file, err.text);
        exit(1);
    }
    foreach (p, node.pu_count) {
        core_cpus[node.pus[p].core] |= UINT64_C(1) << node.pus[p].os_index;
        numa_cpus[node.pus[p].numa] |= UINT64_C(1) << node.pus[p].os_index;
    }
}

int main(void)
{
    char file[512], last[512] = "";
    while (scanf("%511s %" SCNx64 " %u %u %u %u", file, &d.step, &d.hinted, &d.gpus, &d.search,
                 &d.ranks) == 6) {
        if (strcmp(file, last))
            load(strcpy(last, file));
        d.masks = 0;
        d.divided = d.ranks > 1;
        foreach (i, d.ranks) {
            if (scanf("%" SCNx64 " %lf %u %" SCNx64, &d.was[i], &d.weight[i], &d.gpu[i],
                      &d.other[i]) != 4)
                return 1;
            d.masks |= d.was[i];
            d.divided &= d.was[i] == d.was[0];
        }
        d.plan = plan_for(d.was);
        foreach (i, d.ranks)
            d.is[i] = hwloc_bitmap_to_ulong(d.plan.assignments[i].cpus);
        const char *wrong = wrong_plan();
        printf("%d\t%d\t%d\t%s\t", d.plan.moved, is_better(d.is), is_better(d.other),
               wrong ? wrong : "");
        print_better();
        printf("\t%s\t", d.plan.reason);
        foreach (i, d.ranks)
            printf("%" PRIx64 "%c", d.is[i], i + 1 < d.ranks ? ' ' : '\n');
        nuioa_plan_free(&d.plan);
    }
    nuioa_node_free(&node);
    return 0;
}
