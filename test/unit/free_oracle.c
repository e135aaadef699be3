/* SPDX-License-Identifier: BSD-3-Clause */
#include "free_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "machine.h"
#include "plan_case.h"

/* One case, and what is known of it beside the request. */
struct drawn {
    struct plan_case *s;
    hwloc_bitmap_t allowed, masks; /* of the step; of all ranks */
    bool alike;                    /* all NUMA nodes have the same caches */
    bool forbidden;                /* free cores are not for these ranks */
    uint32_t seed;
};

#define REQUIRE(d, condition) \
    do { \
        if (!(condition)) \
            fail_msg("seed %u: not true: %s", (d)->seed, #condition); \
    } while (0)

/* --- what is drawn ---------------------------------------------------------------------------- */

static uint32_t state_of_random;

static unsigned below(unsigned limit)
{
    state_of_random = state_of_random * 1664525 + 1013904223;
    return (state_of_random >> 8) % limit;
}

/* Cuts the cores of each NUMA node into L3, and these into L2. */
static void draw_caches(struct drawn *d)
{
    struct nuioa_node *node = &d->s->node;
    uint32_t l3 = 0, l2 = 0, each = node->pu_count / node->numa_count;
    bool cut3[64], cut2[64];
    d->alike = below(2);
    for (uint32_t i = 0; i < node->pu_count; i++) {
        uint32_t at = i % each;
        if (i < each || (!d->alike && at < 64)) {
            cut3[at] = below(3) == 0;
            cut2[at] = below(2) == 0;
        }
        bool core = i == 0 || node->pus[i].core != node->pus[i - 1].core;
        l3 += core && (at == 0 || cut3[at]);
        l2 += core && (at == 0 || cut3[at] || cut2[at]);
        node->pus[i].l3 = l3;
        node->pus[i].l2 = l2;
    }
}

static void draw_machine(struct drawn *d)
{
    uint32_t matrix[36];
    unsigned numas = 1 + below(6);
    for (unsigned i = 0; i < numas; i++)
        for (unsigned k = 0; k < numas; k++)
            matrix[i * numas + k] = i == k ? 10 : 15 + 5 * below(5);
    machine_build(&d->s->node, &(struct shape){ numas, 1 + below(6), 1 + below(2), 1, matrix });
    for (unsigned i = 0, nics = 1 + below(2); i < nics; i++)
        machine_nic(&d->s->node, i ? "mlx5_1" : "mlx5_0", below(numas));
    draw_caches(d);
}

/* The step has the whole node, or lacks some cores, or some hardware threads. */
static void draw_allowed(struct drawn *d)
{
    const struct nuioa_node *node = &d->s->node;
    unsigned kind = below(3);
    d->allowed = hwloc_bitmap_dup(node->allowed_cpus);
    for (uint32_t i = 0; i < node->pu_count && kind; i++) {
        if (below(4))
            continue;
        for (uint32_t k = 0; k < node->pu_count; k++)
            if (kind == 2 ? k == i : node->pus[k].core == node->pus[i].core)
                hwloc_bitmap_clr(d->allowed, node->pus[k].os_index);
    }
    hwloc_bitmap_set(d->allowed, node->pus[0].os_index);
}

/* Gives a rank up to `most` cores of a NUMA node that nobody has; or as it happens a hardware
 * thread of a core that somebody has. */
static void draw_mask(struct drawn *d, hwloc_bitmap_t mask, unsigned most, bool threads)
{
    const struct nuioa_node *node = &d->s->node;
    unsigned first = below(node->pu_count), last = UINT32_MAX, cores = 0;
    hwloc_bitmap_zero(mask);
    for (unsigned n = 0; n < node->pu_count; n++) {
        const struct nuioa_pu *pu = &node->pus[(first + n) % node->pu_count];
        if (!hwloc_bitmap_isset(d->allowed, pu->os_index) ||
            hwloc_bitmap_isset(d->masks, pu->os_index) ||
            (cores && pu->numa != node->pus[(first) % node->pu_count].numa && last != UINT32_MAX))
            continue;
        if (pu->core == last && !threads)
            continue;
        if (pu->core != last && cores++ == most)
            break;
        if (last == UINT32_MAX)
            first = (unsigned)(pu - node->pus), n = 0;
        last = pu->core;
        hwloc_bitmap_set(mask, pu->os_index);
    }
    if (hwloc_bitmap_iszero(mask)) /* all are taken: it shares them */
        hwloc_bitmap_only(mask, (unsigned)hwloc_bitmap_first(d->allowed));
    hwloc_bitmap_or(d->masks, d->masks, mask);
}

static double draw_weight(unsigned local)
{
    (void)local;
    return below(4);
}

static void draw(struct drawn *d, uint32_t seed)
{
    state_of_random = seed * 2654435761u;
    d->seed = seed;
    d->s = plan_case_new();
    draw_machine(d);
    draw_allowed(d);
    d->masks = hwloc_bitmap_alloc();
    unsigned tasks = 1 + below(6), most = 1 + below(3), uneven = below(4);
    bool threads = below(2);
    plan_case_on(d->s, tasks, 0);
    for (unsigned i = 0; i < tasks; i++)
        draw_mask(d, d->s->masks[i], uneven ? most : 1 + below(3), threads);
    d->s->request.allowed_cpus = d->allowed;
    d->s->options.asked = true;
    if (below(3) == 0)
        plan_case_weigh_by(d->s, draw_weight);
    unsigned why = below(12);
    d->forbidden = why < 4;
    d->s->options.asked = why != 0;
    d->s->request.overlaps = why == 1;
    d->s->request.unconfined = why == 2;
    if (why == 3)
        plan_case_option(d->s, "cores", "keep");
}

static void drawn_free(struct drawn *d)
{
    plan_case_free(d->s);
    hwloc_bitmap_free(d->allowed);
    hwloc_bitmap_free(d->masks);
}

/* --- what is seen ----------------------------------------------------------------------------- */

static const struct nuioa_pu *pu_of(const struct drawn *d, int cpu)
{
    for (uint32_t i = 0; i < d->s->node.pu_count; i++)
        if (d->s->node.pus[i].os_index == (uint32_t)cpu)
            return &d->s->node.pus[i];
    return NULL;
}

static hwloc_const_bitmap_t was(const struct drawn *d, unsigned rank)
{
    return d->s->masks[rank];
}

static hwloc_const_bitmap_t is(const struct drawn *d, unsigned rank)
{
    return d->s->plan.assignments[rank].cpus;
}

/* Returns the only NUMA node of `cpus`, or -1. */
static int numa_of(const struct drawn *d, hwloc_const_bitmap_t cpus)
{
    int numa = -1;
    for (int cpu = -1; (cpu = hwloc_bitmap_next(cpus, cpu)) >= 0;) {
        if (numa >= 0 && numa != pu_of(d, cpu)->numa)
            return -1;
        numa = pu_of(d, cpu)->numa;
    }
    return numa;
}

static unsigned level_of(const struct drawn *d, int numa)
{
    unsigned best = 255;
    for (unsigned n = 0; n < d->s->node.nic_count; n++)
        if (d->s->node.nics[n].level[numa] < best)
            best = d->s->node.nics[n].level[numa];
    return best;
}

static unsigned count_cores(const struct drawn *d, hwloc_const_bitmap_t cpus)
{
    unsigned count = 0;
    for (uint32_t core = 0; core < d->s->node.core_count; core++) {
        bool any = false;
        for (uint32_t i = 0; i < d->s->node.pu_count; i++)
            any |= d->s->node.pus[i].core == core &&
                   hwloc_bitmap_isset(cpus, d->s->node.pus[i].os_index);
        count += any;
    }
    return count;
}

/* Returns the most ranks that a NUMA node has. */
static unsigned most_ranks(const struct drawn *d,
                           hwloc_const_bitmap_t (*cpus)(const struct drawn *, unsigned))
{
    unsigned most = 0;
    for (uint32_t numa = 0; numa < d->s->node.numa_count; numa++) {
        unsigned count = 0;
        for (unsigned i = 0; i < d->s->plan.task_count; i++)
            count += hwloc_bitmap_intersects(cpus(d, i), d->s->node.numas[numa].cpus);
        most = count > most ? count : most;
    }
    return most;
}

static bool has_ranks(const struct drawn *d, int numa)
{
    return hwloc_bitmap_intersects(d->masks, d->s->node.numas[numa].cpus);
}

/* How far consecutive ranks are from each other, if those of `block`, a NUMA node, go to `to`. */
static double chain(const struct drawn *d, int block, int to,
                    hwloc_const_bitmap_t (*cpus)(const struct drawn *, unsigned))
{
    double cost = 0;
    for (unsigned i = 0; i + 1 < d->s->plan.task_count; i++) {
        int a = numa_of(d, cpus(d, i)), b = numa_of(d, cpus(d, i + 1));
        a = a == block ? to : a;
        b = b == block ? to : b;
        const uint32_t *matrix = d->s->node.distance.matrix;
        uint32_t n = d->s->node.distance.count;
        cost += a == b ? 0 : (matrix[a * (int)n + b] + matrix[b * (int)n + a]) / 2.0;
    }
    return cost;
}

/* --- the shape of a block --------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Writes what the block `numa` has on the PUs of one unit: for a PU the ranks, for a larger unit
 * the parts with ranks, sorted. Unit 0 is a PU, 1 a core, 2 an L2, 3 an L3, 4 the NUMA node. */
static char *signature(const struct drawn *d, int block, uint32_t first, uint32_t end,
                       unsigned unit, hwloc_const_bitmap_t (*cpus)(const struct drawn *, unsigned))
{
    char *parts[64], *text = calloc(1, 4096);
    const struct nuioa_pu *pus = d->s->node.pus;
    unsigned count = 0;
    for (unsigned r = 0; unit == 0 && r < d->s->plan.task_count; r++)
        if (numa_of(d, was(d, r)) == block && hwloc_bitmap_isset(cpus(d, r), pus[first].os_index))
            sprintf(text + strlen(text), "%u ", r);
    for (uint32_t i = first, next; unit && i < end; i = next) {
        next = i + 1;
        while (next < end && unit > 1 &&
               (unit == 2   ? pus[next].core == pus[i].core
                : unit == 3 ? pus[next].l2 == pus[i].l2
                            : pus[next].l3 == pus[i].l3))
            next++;
        parts[count++] = signature(d, block, i, next, unit - 1, cpus);
    }
    qsort(parts, count, sizeof(*parts), by_text);
    for (unsigned k = 0; k < count; k++) {
        if (*parts[k])
            sprintf(text + strlen(text), "(%s)", parts[k]);
        free(parts[k]);
    }
    return text;
}

static void check_shape(const struct drawn *d, int block, int to)
{
    uint32_t each = d->s->node.pu_count / d->s->node.numa_count;
    uint32_t a = (uint32_t)block * each, b = (uint32_t)to * each;
    char *before = signature(d, block, a, a + each, 4, was);
    char *after = signature(d, block, b, b + each, 4, is);
    if (strcmp(before, after))
        fail_msg("seed %u: the shape was %s, and is %s", d->seed, before, after);
    free(before);
    free(after);
}

/* --- the judgement ---------------------------------------------------------------------------- */

static bool is_on_free(const struct drawn *d, unsigned rank)
{
    return !hwloc_bitmap_isincluded(is(d, rank), d->masks);
}

/* Returns true if the whole core of this PU is the step's, and no rank had any of it. */
static bool is_free(const struct drawn *d, const struct nuioa_pu *pu)
{
    for (uint32_t i = 0; i < d->s->node.pu_count; i++) {
        const struct nuioa_pu *other = &d->s->node.pus[i];
        if (other->core == pu->core && (!hwloc_bitmap_isset(d->allowed, other->os_index) ||
                                        hwloc_bitmap_isset(d->masks, other->os_index)))
            return false;
    }
    return true;
}

static void check_rank(const struct drawn *d, unsigned rank)
{
    REQUIRE(d, count_cores(d, is(d, rank)) == count_cores(d, was(d, rank)));
    REQUIRE(d, hwloc_bitmap_weight(is(d, rank)) == hwloc_bitmap_weight(was(d, rank)));
    for (int cpu = -1; (cpu = hwloc_bitmap_next(is(d, rank), cpu)) >= 0;) {
        REQUIRE(d, hwloc_bitmap_isset(d->masks, (unsigned)cpu) || is_free(d, pu_of(d, cpu)));
        for (unsigned k = 0; k < rank && !hwloc_bitmap_isset(d->masks, (unsigned)cpu); k++)
            REQUIRE(d, !hwloc_bitmap_isset(is(d, k), (unsigned)cpu) ||
                           hwloc_bitmap_intersects(was(d, k), was(d, rank)));
    }
}

/* Without hints whole blocks go to NUMA nodes without ranks, or to those that all ranks leave. Only
 * the block that gives way to rank 0's goes to a farther one without ranks. */
static void check_block(const struct drawn *d, unsigned rank)
{
    int block = numa_of(d, was(d, rank)), to = numa_of(d, is(d, rank));
    if (block < 0)
        return; /* a rank alone that spans NUMA nodes */
    REQUIRE(d, to >= 0);
    REQUIRE(d, has_ranks(d, to) || level_of(d, to) <= level_of(d, block) ||
                   numa_of(d, is(d, 0)) == block);
    for (unsigned k = 0; k < d->s->plan.task_count; k++)
        REQUIRE(d, (numa_of(d, was(d, k)) == block) == (numa_of(d, is(d, k)) == to));
    check_shape(d, block, to);
}

static bool is_all_free(const struct drawn *d, int numa)
{
    for (uint32_t i = 0; i < d->s->node.pu_count; i++)
        if (d->s->node.pus[i].numa == numa && !is_free(d, &d->s->node.pus[i]))
            return false;
    return true;
}

/* The block of rank 0 could go by itself to a NUMA node that is nearer than where it is now. */
static void check_nothing_missed(const struct drawn *d)
{
    int block = numa_of(d, was(d, 0)), now = numa_of(d, is(d, 0));
    double before = chain(d, -1, -1, was);
    for (int to = 0; to < (int)d->s->node.numa_count; to++)
        if (d->alike && is_all_free(d, to) && level_of(d, to) < level_of(d, now))
            REQUIRE(d, chain(d, block, to, was) > before * (1 + 1e-9));
}

static bool spans(const struct drawn *d)
{
    for (unsigned i = 0; i < d->s->plan.task_count; i++)
        if (numa_of(d, was(d, i)) < 0)
            return true;
    return false;
}

/* With hints, one NIC and ranks of one core: no heavy rank could go nearer by itself. */
static void check_no_rank_missed(const struct drawn *d)
{
    const struct nuioa_node *node = &d->s->node;
    unsigned most = most_ranks(d, was);
    for (unsigned i = 0; i < d->s->plan.task_count; i++)
        if (count_cores(d, was(d, i)) != 1 ||
            hwloc_bitmap_weight(was(d, i)) != hwloc_bitmap_weight(was(d, 0)))
            return;
    for (uint32_t k = 0; node->nic_count == 1 && k < node->pu_count; k++) {
        const struct nuioa_pu *pu = &node->pus[k];
        unsigned there = 0;
        bool taken = !is_free(d, pu);
        for (unsigned i = 0; i < d->s->plan.task_count; i++) {
            there += numa_of(d, is(d, i)) == pu->numa;
            for (int cpu = -1; (cpu = hwloc_bitmap_next(is(d, i), cpu)) >= 0;)
                taken |= pu_of(d, cpu)->core == pu->core;
        }
        for (unsigned i = 0; !taken && there < most && i < d->s->plan.task_count; i++)
            REQUIRE(d, d->s->tasks[i].weight == 0 ||
                           level_of(d, numa_of(d, is(d, i))) <= level_of(d, pu->numa));
    }
}

/* Returns true if no rank is farther from the NICs than it was. */
static bool nobody_loses(const struct drawn *d)
{
    for (unsigned i = 0; i < d->s->plan.task_count; i++)
        if (level_of(d, numa_of(d, is(d, i))) > level_of(d, numa_of(d, was(d, i))))
            return false;
    return true;
}

static void judge(const struct drawn *d)
{
    unsigned tasks = d->s->plan.task_count;
    for (unsigned i = 0; i < tasks; i++) {
        check_rank(d, i);
        if (is_on_free(d, i) && !d->s->request.hinted)
            check_block(d, i);
    }
    REQUIRE(d, most_ranks(d, is) <= most_ranks(d, was));
    if (spans(d))
        return;
    if (d->s->request.hinted) {
        check_no_rank_missed(d);
        return;
    }
    REQUIRE(d, chain(d, -1, -1, is) <= chain(d, -1, -1, was) * (1 + 1e-9) || nobody_loses(d));
    REQUIRE(d, level_of(d, numa_of(d, is(d, 0))) <= level_of(d, numa_of(d, was(d, 0))));
    check_nothing_missed(d);
}

/* Ranks that all have one mask, or all CPUs of the step, are not bound: they divide them. */
static bool is_unbound(const struct drawn *d)
{
    for (unsigned i = 1; i < d->s->plan.task_count; i++)
        if (!hwloc_bitmap_isequal(was(d, i), was(d, 0)))
            return false;
    return d->s->plan.task_count > 1 || hwloc_bitmap_isequal(was(d, 0), d->allowed);
}

bool free_oracle_round(uint32_t seed)
{
    struct drawn d = { 0 };
    bool used = false;
    draw(&d, seed);
    plan_case_make(d.s);
    for (unsigned i = 0; i < d.s->plan.task_count; i++)
        used |= is_on_free(&d, i);
    if (d.forbidden)
        REQUIRE(&d, !used);
    else if (!is_unbound(&d))
        judge(&d);
    drawn_free(&d);
    return used;
}
