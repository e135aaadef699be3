/* SPDX-License-Identifier: BSD-3-Clause */

/* cores=share: ranks divide a mask that they share. Random machines, masks and weights are checked
 * against what must hold for every division. */

#include "plan_words.h"
#include "rounds.h"
#include "unit.h"

/* A request of `tasks` ranks that all have all CPUs of the node, as Slurm leaves them in a step
 * that is wider than its tasks; the user typed --nuioa. */
static void unbound(struct plan_case *s, unsigned tasks)
{
    plan_case_on(s, tasks, 0);
    s->options.asked = true;
    plan_case_unbind(s);
}

static struct plan_case *hagrid5(unsigned tasks)
{
    return plan_case_of("hagrid=5 ranks=%ux0 asked unbound", tasks);
}

/* --- random instances ------------------------------------------------------------------------ */

static uint32_t seed;

static unsigned below(unsigned limit)
{
    return draw(&seed, limit);
}

static unsigned core_of(const struct nuioa_node *node, int cpu)
{
    return node->pus[nuioa_node_pu(node, (unsigned)cpu)].core;
}

/* Returns how many cores have a PU in `cpus`. */
static unsigned count_cores(const struct nuioa_node *node, hwloc_const_bitmap_t cpus)
{
    bool seen[512] = { false };
    unsigned count = 0;
    for (int cpu = -1; (cpu = hwloc_bitmap_next(cpus, cpu)) >= 0;) {
        count += !seen[core_of(node, cpu)];
        seen[core_of(node, cpu)] = true;
    }
    return count;
}

/* Each CPU of the mask belongs to one rank, and so does each core. */
static void check_partition(const struct plan_case *s, hwloc_const_bitmap_t mask)
{
    int owner[512];
    hwloc_bitmap_t seen = hwloc_bitmap_alloc();
    for (unsigned c = 0; c < 512; c++)
        owner[c] = -1;
    for (unsigned i = 0; i < s->plan.task_count; i++) {
        hwloc_const_bitmap_t cpus = s->plan.assignments[i].cpus;
        assert_false(hwloc_bitmap_intersects(seen, cpus));
        hwloc_bitmap_or(seen, seen, cpus);
        for (int cpu = -1; (cpu = hwloc_bitmap_next(cpus, cpu)) >= 0;) {
            unsigned core = core_of(&s->node, cpu);
            assert_true(owner[core] == -1 || owner[core] == (int)i);
            owner[core] = (int)i;
        }
    }
    assert_true(hwloc_bitmap_isequal(seen, mask));
    hwloc_bitmap_free(seen);
}

static void check_fair(const struct plan_case *s, hwloc_const_bitmap_t mask)
{
    unsigned cores = count_cores(&s->node, mask), n = s->plan.task_count;
    for (unsigned i = 0; i < n; i++) {
        unsigned own = count_cores(&s->node, s->plan.assignments[i].cpus);
        assert_true(own == cores / n || own == cores / n + 1);
    }
}

/* In each NUMA node, the cores of a rank follow one another in the mask: between two of them there
 * is none of another rank. */
static void check_contiguous(const struct plan_case *s, hwloc_const_bitmap_t mask)
{
    for (unsigned i = 0; i < s->plan.task_count; i++) {
        hwloc_const_bitmap_t cpus = s->plan.assignments[i].cpus;
        int numa = -2;
        bool ended = false;
        for (unsigned k = 0; k < s->node.pu_count; k++) {
            const struct nuioa_pu *pu = &s->node.pus[k];
            if (!hwloc_bitmap_isset(mask, pu->os_index))
                continue;
            if (pu->numa != numa)
                ended = false;
            bool in_numa = pu->numa == numa;
            bool own = hwloc_bitmap_isset(cpus, pu->os_index);
            bool before = in_numa && k && hwloc_bitmap_isset(cpus, s->node.pus[k - 1].os_index);
            assert_false(own && ended);
            ended = ended || (before && !own);
            numa = pu->numa;
        }
    }
}

/* Where the parts come out even with the NUMA nodes, no rank has a part of one, or no rank has more
 * than one. `each` is the number of cores of a NUMA node. */
static void check_even(const struct plan_case *s, unsigned each)
{
    unsigned n = s->plan.task_count, share = s->node.core_count / n;
    if (s->node.core_count % n || (share % each && each % share))
        return;
    unsigned numas = share < each ? 1 : share / each;
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[i].numas), numas);
}

/* Returns the level of the farthest NUMA node of a rank, or of its nearest one, from the nearest
 * NIC. */
static unsigned level_of(const struct plan_case *s, unsigned local, bool farthest)
{
    unsigned best = 255;
    for (unsigned n = 0; n < s->node.nic_count; n++) {
        unsigned level = farthest ? 0 : 255;
        for (unsigned k = 0; k < s->node.numa_count; k++)
            if (hwloc_bitmap_isset(s->plan.assignments[local].numas, k) &&
                (s->node.nics[n].level[k] > level) == farthest)
                level = s->node.nics[n].level[k];
        best = level < best ? level : best;
    }
    return best;
}

/* If there is one NIC, heavier ranks are not farther, and one of the heaviest, or without hints the
 * lowest, has a core as near the NIC as any. */
static void check_nearest(const struct plan_case *s)
{
    unsigned n = s->plan.task_count, least = 255, first = 255;
    double most = 0;
    for (unsigned i = 0; i < n; i++)
        most = s->tasks[i].weight > most ? s->tasks[i].weight : most;
    for (unsigned i = 0; i < n; i++) {
        unsigned here = level_of(s, i, false);
        bool heaviest = s->request.hinted ? s->tasks[i].weight == most : i == 0;
        least = here < least ? here : least;
        first = heaviest && here < first ? here : first;
        for (unsigned k = 0; k < n; k++)
            if (s->node.nic_count == 1 && s->tasks[i].weight > s->tasks[k].weight)
                assert_true(level_of(s, i, true) <= level_of(s, k, true));
    }
    if (s->node.nic_count == 1 && !s->request.allowed_cpus)
        assert_int_equal(first, least);
}

static void random_machine(struct plan_case *s, unsigned *each)
{
    uint32_t matrix[64];
    unsigned numas = 1u << below(4);
    for (unsigned i = 0; i < numas; i++)
        for (unsigned k = 0; k < numas; k++)
            matrix[i * numas + k] = i == k ? 10 : 20 + 5 * below(4);
    *each = 1 + below(8);
    machine_build(&s->node, &(struct shape){ numas, *each, 1 + below(2),
                                             numas > 1 ? 1 + below(2) : 1, matrix });
    for (unsigned i = 0, nics = 1 + below(2); i < nics; i++)
        machine_nic(&s->node, i ? "mlx5_1" : "mlx5_0", below(numas));
}

/* Takes some CPUs away from the masks. Returns whether a core is left for each rank. */
static bool thin_out(struct plan_case *s, hwloc_bitmap_t mask)
{
    for (unsigned i = 0; i < s->node.pu_count; i++)
        if (below(4) == 0)
            hwloc_bitmap_clr(mask, s->node.pus[i].os_index);
    for (unsigned i = 0; i < s->request.task_count; i++)
        hwloc_bitmap_copy(s->masks[i], mask);
    s->request.allowed_cpus = mask;
    return count_cores(&s->node, mask) >= s->request.task_count;
}

TEST(test_random)
{
    unsigned divided = 0, stayed = 0;
    for (unsigned round = 0; round < rounds(2000); round++) {
        struct plan_case *s = plan_case_new();
        unsigned each;
        seed = 7919 * round + 1;
        random_machine(s, &each);
        unsigned most = s->node.core_count < 24 ? s->node.core_count : 24;
        hwloc_bitmap_t mask = hwloc_bitmap_dup(s->node.allowed_cpus);
        if (most > 1) {
            unbound(s, 2 + below(most - 1));
            plan_case_option(s, "cores", "share"); /* also where nobody gets nearer */
            bool fits = below(2) ? thin_out(s, mask) : true;
            s->request.hinted = below(2);
            for (unsigned i = 0; s->request.hinted && i < s->request.task_count; i++)
                s->tasks[i].weight = 1 + below(9);
            if (fits) {
                plan_case_make(s);
                bool stay = s->plan.why == NUIOA_REASON_SHARE_COSTS;
                /* Ranks that are everywhere can choose among all NICs. */
                assert_true(!stay || (s->request.hinted && s->node.nic_count > 1));
                stayed += stay;
            }
            if (fits && s->plan.why != NUIOA_REASON_SHARE_COSTS) {
                check_partition(s, mask);
                check_fair(s, mask);
                check_contiguous(s, mask);
                check_nearest(s);
                if (!s->request.allowed_cpus)
                    check_even(s, each);
                divided++;
            }
        }
        hwloc_bitmap_free(mask);
        plan_case_free(s);
    }
    assert_true(divided > rounds(2000) / 2 && stayed < divided / 20);
}

/* --- single cases ----------------------------------------------------------------------------- */

TEST(test_hagrid)
{
    static const char *const wanted[] = {
        [2] = "6-7,10-15;0-5,8-9",
        [3] = "6-7,10-13;4,8-9,14-15;0-3,5",
        [5] = "6-7,10-11;12-14;8-9,15;0,2-3;1,4-5",
        [8] = "10-11;6-7;12-13;14-15;2-3;4-5;8-9;0-1",
    };
    for (unsigned n = 2; n < 9; n++) {
        struct plan_case *s = hagrid5(n);
        plan_case_make(s);
        if (wanted[n])
            assert_string_equal(plan_case_cpus(s), wanted[n]);
        assert_int_equal(s->plan.why, NUIOA_REASON_SHARE);
        assert_int_equal(s->plan.order[0], 0);
    }
}

/* Two NICs: each of two ranks has the NUMA node of one, and a NUMA node beside it. */
TEST(test_each_rank_has_a_nic)
{
    struct plan_case *s = plan_case_of("quad ranks=2x0 asked unbound");
    plan_case_make(s);
    assert_string_equal(plan_case_nics(s), "0,1");
    for (unsigned i = 0; i < 2; i++)
        assert_true(hwloc_bitmap_isset(s->plan.assignments[i].numas, i ? 3 : 1));
}

/* Two NICs in one package: four ranks of two packages, two of them beside a NIC of their own. */
TEST(test_nics_of_one_package)
{
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 8, 2, 1, 4, NULL });
    machine_nic(&s->node, "mlx5_0", 0);
    machine_nic(&s->node, "mlx5_1", 3);
    unbound(s, 4);
    plan_case_make(s);
    assert_string_equal(plan_case_cpus(s), "0-3;4-7;8-11;12-15");
}

TEST(test_heaviest_is_nearest)
{
    struct plan_case *s = hagrid5(5);
    plan_case_weigh(s, (const double[]){ 1, 2, 9, 4, 3 });
    plan_case_make(s);
    assert_true(hwloc_bitmap_isset(s->plan.assignments[2].numas, 5));
    assert_int_equal(s->plan.order[0], 2);
}

/* A rank gets what the user asked for each, or all keep what they had. */
TEST(test_typed_cpus)
{
    struct plan_case *s = hagrid5(3);
    s->request.cpus_typed = 5;
    plan_case_make(s);
    assert_int_equal(s->plan.why, NUIOA_REASON_SHARE);
    s->request.cpus_typed = 6;
    plan_case_make(s);
    assert_int_equal(s->plan.why, NUIOA_REASON_SHARE_TYPED);
    assert_false(s->plan.moved);
}

/* Ranks that Slurm bound to one of two sockets divide it only if that was asked for. */
TEST(test_masks_of_several_ranks)
{
    struct plan_case *s = plan_case_of("plain=2x4 nic=1 bound=0-3;0-3;4-7;4-7");
    plan_case_make(s);
    assert_string_equal(plan_case_cpus(s), "4-7;4-7;0-3;0-3");
    plan_case_option(s, "cores", "share");
    plan_case_make(s);
    assert_string_equal(plan_case_cpus(s), "0-1;2-3;4-5;6-7");
}

/* With --overlap other steps may have the same CPUs; in a rank of another step it must be typed. */
TEST(test_overlap)
{
    struct plan_case *s = hagrid5(2);
    s->request.overlaps = true;
    plan_case_make(s);
    assert_false(s->plan.moved);
    s->request.nested = true;
    plan_case_make(s);
    assert_string_equal(plan_case_cpus(s), "6-7,10-15;0-5,8-9");

    s = hagrid5(1);
    s->request.overlaps = s->request.nested = true;
    s->request.cpus_typed = 4;
    plan_case_make(s);
    assert_false(s->plan.moved);
}

/* A rank alone keeps all CPUs of its step, unless the user said how many it needs. */
TEST(test_one_rank)
{
    struct plan_case *s = hagrid5(1);
    const struct nuioa_assignment *only;
    plan_case_make(s);
    only = &s->plan.assignments[0];
    assert_false(s->plan.moved);
    assert_int_equal(only->place_count, 16);
    assert_int_equal(hwloc_bitmap_first(only->places[0]), 10);

    s->request.cpus_typed = 4;
    plan_case_make(s);
    assert_string_equal(plan_case_cpus(s), "6-7,10-11");
}

/* Writes the memory of each rank: "preferred:5 default". The text is static. */
static const char *memory_of(struct plan_case *s)
{
    static char text[256];
    size_t used = 0;
    plan_case_make(s);
    for (unsigned i = 0; i < s->plan.task_count; i++) {
        char one[64];
        nuioa_memory_text(&s->plan.assignments[i], one, sizeof(one));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "", one);
    }
    return text;
}

/* Whether a rank has threads nobody knows: where its CPUs span NUMA nodes, its memory is preferred
 * near the NIC only with mem=nic, or with mem=local if somebody said that it has one. */
TEST(test_memory_of_wide_ranks)
{
    struct plan_case *s = hagrid5(1);
    assert_string_equal(memory_of(s), "default");
    s->request.threads = 1;
    assert_string_equal(memory_of(s), "default");
    s->request.threads = 0;
    plan_case_option(s, "mem", "local");
    assert_string_equal(memory_of(s), "default");
    s->request.threads = 16;
    assert_string_equal(memory_of(s), "default");
    s->request.threads = 1;
    assert_string_equal(memory_of(s), "preferred:5");
    s->request.overlaps = true;
    assert_string_equal(memory_of(s), "default");
    s->request.overlaps = false;
    s->request.unconfined = true;
    assert_string_equal(memory_of(s), "default");
    s->request.unconfined = false;
    s->request.bound_by_user = true;
    assert_string_equal(memory_of(s), "default");
    s->request.bound_by_user = false;
    s->options.asked = false;
    assert_string_equal(memory_of(s), "default");
    s->request.threads = 0;
    plan_case_option(s, "mem", "nic");
    assert_string_equal(memory_of(s), "preferred:5");

    s = hagrid5(2); /* NUMA nodes 3 and 5 to 7, and the others */
    s->request.threads = 1;
    assert_string_equal(memory_of(s), "default default");
    plan_case_option(s, "mem", "local");
    assert_string_equal(memory_of(s), "preferred:5 preferred:1");
    plan_case_option(s, "mem", "nic");
    assert_string_equal(memory_of(s), "preferred:5 preferred:5");
}

/* A site's default alone leaves all ranks the CPUs that Slurm gave them, and their memory too. */
TEST(test_site_default)
{
    for (unsigned n = 1; n < 6; n++) {
        struct plan_case *s = hagrid5(n);
        s->options.asked = false;
        plan_case_make(s);
        assert_false(s->plan.moved);
        for (unsigned i = 0; i < n; i++)
            assert_int_equal(s->plan.assignments[i].memory, NUIOA_MEMORY_DEFAULT);
        if (n > 1) {
            plan_case_option(s, "cores", "share");
            plan_case_make(s);
            assert_true(s->plan.moved);
        }
    }
}
