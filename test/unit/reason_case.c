/* SPDX-License-Identifier: BSD-3-Clause */
#include "reason_case.h"

#include "machine.h"
#include "reason_free.h"
#include "reason_gpus.h"

/* --- situations ------------------------------------------------------------------------------- */

static const struct nuioa_pair far_pair[] = { { 0, 15, 100 } };
static const struct nuioa_pair near_pairs[] = {
    { 0, 1, 9 }, { 2, 3, 9 }, { 4, 5, 9 }, { 6, 7, 9 }
};

/* 16 ranks, each bound to a core; the NIC is on NUMA node 5. */
static void bound(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 16, 1);
}

static void hinted(struct plan_case *s)
{
    bound(s);
    plan_case_weigh_by(s, plan_case_descending);
}

static void off(struct plan_case *s)
{
    bound(s);
    plan_case_option(s, "nuioa", "off");
}

static void export_only(struct plan_case *s)
{
    bound(s);
    plan_case_option(s, "nuioa", "export");
}

static void cpu_bind(struct plan_case *s)
{
    bound(s);
    s->request.bound_by_user = true;
}

static void cpu_bind_outer(struct plan_case *s)
{
    cpu_bind(s);
    s->request.bound_by_outer = true;
}

static void mem_bind(struct plan_case *s)
{
    bound(s);
    s->request.memory_by_user = s->request.memory_by_rank = true;
}

static void mem_bind_outer(struct plan_case *s)
{
    mem_bind(s);
    s->request.memory_by_outer = true;
}

static void gpus(struct plan_case *s)
{
    bound(s);
    s->request.sees_gpu = true;
    plan_case_option(s, "gpus", "follow");
    plan_case_option(s, "cores", "pack");
}

static void no_nic(struct plan_case *s)
{
    bound(s);
    plan_case_option(s, "nic", "^mlx4_0");
}

static void nic_down(struct plan_case *s)
{
    bound(s);
    s->node.nics[0].state = NUIOA_NIC_DOWN;
}

static void no_numa(struct plan_case *s)
{
    bound(s);
    free(s->node.nics[0].level);
    s->node.nics[0].level = NULL;
    hwloc_bitmap_zero(s->node.nics[0].numas);
}

static void numa_cut(struct plan_case *s)
{
    no_numa(s);
    s->node.cut = true;
}

static void equal_weights(struct plan_case *s)
{
    bound(s);
    plan_case_weigh_by(s, plan_case_equal);
}

/* Four NUMA nodes with a NIC each. The heavy ranks begin beside one of them. */
static void four_rails(struct plan_case *s)
{
    static const char *const names[] = { "mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3" };
    machine_plain(&s->node, 4, 4);
    for (unsigned n = 0; n < 4; n++)
        machine_nic(&s->node, names[n], n);
    plan_case_on(s, 16, 1);
    plan_case_weigh(s, (const double[16]){ 1, 1, 1, 1 });
}

static void traffic(struct plan_case *s)
{
    hinted(s);
    s->request.pairs = far_pair;
    s->request.pair_count = 1;
}

static void neighbours(struct plan_case *s)
{
    traffic(s);
    s->node.nics[0].state = NUIOA_NIC_DOWN;
}

static void heavier_rails(struct plan_case *s)
{
    machine_quad(&s->node);
    plan_case_on(s, 8, 2);
    plan_case_weigh(s, (const double[8]){ 8, 8, 1, 1, 1, 1, 1, 1 });
}

/* The heavy ranks have no partners on the node, the others have. */
static void traffic_rails(struct plan_case *s)
{
    heavier_rails(s);
    plan_case_weigh(s, (const double[8]){ 8, 8, 4, 4, 1, 1, 1, 1 });
    s->request.pairs = near_pairs + 2;
    s->request.pair_count = 2;
}

static void block_nearest(struct plan_case *s)
{
    machine_hagrid(&s->node, 0);
    plan_case_on(s, 16, 1);
}

/* Many ranks of two cores, half of them on two NUMA nodes. */
static void block_spread(struct plan_case *s)
{
    machine_plain(&s->node, 2, 24);
    machine_nic(&s->node, "mlx5_0", 1);
    plan_case_on(s, 17, 2);
    for (unsigned i = 0; i < 17; i += 2)
        hwloc_bitmap_list_sscanf(s->masks[i], "3,47");
}

/* Two ranks on the first NUMA node, one on the NIC's, and no other core in the step. */
static void block_hint(struct plan_case *s)
{
    machine_plain(&s->node, 2, 2);
    machine_nic(&s->node, "mlx5_0", 1);
    plan_case_on(s, 3, 1);
    hwloc_bitmap_clr(s->node.allowed_cpus, 3);
}

/* The NIC's NUMA node has one core, and the ranks are two. */
static void block_no_room(struct plan_case *s)
{
    block_hint(s);
    s->request.task_count = 2;
}

/* One NUMA node has all. */
static void even(struct plan_case *s)
{
    machine_plain(&s->node, 1, 4);
    machine_nic(&s->node, "mlx5_0", 0);
    plan_case_on(s, 4, 1);
}

/* Three NUMA nodes in a row with the NIC at the end: the chain of ranks would be longer. */
static void block_separates(struct plan_case *s)
{
    static const uint32_t row[] = { 10, 20, 40, 20, 10, 20, 40, 20, 10 };
    machine_build(&s->node, &(struct shape){ 3, 2, 1, 1, row });
    machine_nic(&s->node, "mlx5_0", 1);
    plan_case_on(s, 6, 1);
}

static void alone(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 1, 1);
    s->options.asked = true;
}

static void alone_nearest(struct plan_case *s)
{
    alone(s);
    hwloc_bitmap_only(s->masks[0], 10);
}

/* Both NICs are one level away, and the only free cores are beside the slower one. */
static void alone_costs(struct plan_case *s)
{
    machine_plain(&s->node, 3, 2);
    machine_nic(&s->node, "mlx5_0", 1)->rate_mbps = 80000;
    machine_nic(&s->node, "mlx5_1", 2);
    hwloc_bitmap_clr_range(s->node.allowed_cpus, 4, 5);
    plan_case_on(s, 1, 1);
    plan_case_option(s, "nic", "mlx5_0,mlx5_1");
    s->options.asked = true;
    plan_case_weigh_by(s, plan_case_equal);
}

/* All ranks have all CPUs of the step, and the user typed --nuioa. */
static void unbound(struct plan_case *s, unsigned tasks)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, tasks, 0);
    s->options.asked = true;
    plan_case_unbind(s);
}

/* srun -n1 -c4: the step is these CPUs. */
static void alone_all(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 1, 4);
    s->options.asked = true;
    s->request.cpus_typed = 4;
    s->request.allowed_cpus = s->masks[0];
}

static void alone_not_asked(struct plan_case *s)
{
    unbound(s, 1);
    s->options.asked = false;
}

static void alone_wide(struct plan_case *s)
{
    unbound(s, 1);
}

static void alone_typed(struct plan_case *s)
{
    unbound(s, 1);
    s->request.cpus_typed = 4;
}

static void alone_overlap(struct plan_case *s)
{
    unbound(s, 1);
    s->request.overlaps = true;
}

static void share(struct plan_case *s)
{
    unbound(s, 5);
}

/* The ranks share one NUMA node, the NIC's. */
static void share_nearest(struct plan_case *s)
{
    unbound(s, 2);
    plan_case_bind(s, "10-11;10-11");
}

/* The same, another one. */
static void share_far(struct plan_case *s)
{
    unbound(s, 2);
    plan_case_bind(s, "0-1;0-1");
}

static void share_heavier(struct plan_case *s)
{
    unbound(s, 5);
    plan_case_weigh_by(s, plan_case_descending);
}

static void share_traffic(struct plan_case *s)
{
    unbound(s, 8);
    plan_case_weigh_by(s, plan_case_descending);
    s->request.pairs = near_pairs;
    s->request.pair_count = 4;
}

/* All ranks talk to all, none with other nodes: apart they are farther from each other. */
static void share_costs(struct plan_case *s)
{
    static struct nuioa_pair all[28];
    unsigned count = 0;
    unbound(s, 8);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = i + 1; k < 8; k++)
            all[count++] = (struct nuioa_pair){ i, k, 1 };
    s->request.hinted = true;
    s->request.pairs = all;
    s->request.pair_count = count;
}

static void share_crowded(struct plan_case *s)
{
    unbound(s, 17);
}

static void share_typed(struct plan_case *s)
{
    unbound(s, 3);
    s->request.cpus_typed = 6;
}

static void share_unequal(struct plan_case *s)
{
    unbound(s, 3);
    hwloc_bitmap_clr(s->masks[2], 0);
    plan_case_option(s, "cores", "share");
}

static void share_overlap(struct plan_case *s)
{
    unbound(s, 3);
    s->request.overlaps = true;
}

static void share_unconfined(struct plan_case *s)
{
    unbound(s, 3);
    s->request.unconfined = true;
}

static void share_not_asked(struct plan_case *s)
{
    unbound(s, 3);
    s->options.asked = false;
}

static void pack(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 4, 1);
    plan_case_weigh_by(s, plan_case_descending);
    plan_case_option(s, "cores", "pack");
}

static void pack_nearest(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 2, 1);
    plan_case_weigh_by(s, plan_case_descending);
    plan_case_option(s, "cores", "pack");
    plan_case_bind(s, "10;11");
}

/* Two ranks beside the NIC; four CPUs each are no longer there. */
static void pack_costs(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 2, 1);
    plan_case_weigh_by(s, plan_case_descending);
    plan_case_option(s, "cores", "pack");
    plan_case_bind(s, "10;11");
    s->request.cpus_per_task = 4;
}

/* --- the table -------------------------------------------------------------------------------- */

#define ROW(reason, set, when) [NUIOA_REASON_##reason] = { #set, set, when }

const struct reason_case reason_cases[NUIOA_REASON_COUNT] = {
    ROW(OFF, off, "`--nuioa=report,off`"),
    ROW(EXPORT, export_only, "`--nuioa=export`"),
    ROW(CPU_BIND, cpu_bind, "`--cpu-bind` with masks, CPUs, ranks or `none`"),
    ROW(CPU_BIND_OUTER, cpu_bind_outer,
        "srun in a rank of another step, whose `SLURM_CPU_BIND` gives ranks a part of this one"),
    ROW(MEM_BIND, mem_bind, "`--mem-bind` with `map_mem`, `mask_mem` or `rank`"),
    ROW(MEM_BIND_OUTER, mem_bind_outer,
        "srun in a rank of another step, whose `SLURM_MEM_BIND` is such a list"),
    ROW(GPUS, gpus, "the step has GPUs; `--nuioa-cores=pack`"),
    ROW(GPUS_KEEP, gpus_keep, "the step has GPUs; nobody typed `--nuioa`, or `--nuioa-gpus=keep`"),
    ROW(GPUS_UNKNOWN, gpus_unknown, "the step has GPUs; nothing says which rank has which"),
    ROW(GPUS_SHARED, gpus_shared,
        "the step has GPUs; several ranks see the same ones, and more than one"),
    ROW(GPUS_NO_NUMA, gpus_no_numa, "the step has GPUs; the firmware does not say where one is"),
    ROW(NO_NIC, no_nic, "no NIC, or `--nuioa-nic` leaves none"),
    ROW(NIC_DOWN, nic_down, "no NIC is up, or none of those that `--nuioa-nic` names"),
    ROW(NO_NUMA, no_numa, "the firmware does not say where the NIC is"),
    ROW(NUMA_CUT, numa_cut, "a virtual machine whose NUMA nodes cut through cores or packages"),
    ROW(NO_BETTER, equal_weights, "hints; the masks are as good as they can be"),
    ROW(NO_BETTER_NO_FREE, better_no_free,
        "the same, one NIC; the cores of the step are all in use, and others are nearer"),
    ROW(RAILS, four_rails, "the same, but heavy ranks were beside one NIC of several"),
    ROW(TRAFFIC, traffic, "a profile with pairs of ranks"),
    ROW(TRAFFIC_RAILS, traffic_rails, "the same, several NICs"),
    ROW(NEIGHBOURS, neighbours,
        "a profile with pairs of ranks; no NIC is up, or its place is unknown"),
    ROW(HEAVIER, hinted, "hints without pairs of ranks"),
    ROW(HEAVIER_RAILS, heavier_rails, "the same, several NICs"),
    ROW(BLOCK_MOVED, bound, "no hints; ranks are bound"),
    ROW(BLOCK_NEAREST, block_nearest, "no hints; the lowest rank is beside the NIC already"),
    ROW(BLOCK_SPREAD, block_spread,
        "no hints; more than 8 ranks, or masks that overlap; ranks have only some NUMA nodes in "
        "common"),
    ROW(BLOCK_SPREAD_EQUAL, block_spread_equal, "the same; the masks are equally near the NIC"),
    ROW(BLOCK_SEPARATES, block_separates, "no hints; neighbours would be farther apart"),
    ROW(BLOCK_HINT, block_hint,
        "no hints; the ranks on the NIC's NUMA node are fewer than the lowest rank's, and no core "
        "is free"),
    ROW(BLOCK_NO_FREE, block_no_free,
        "no hints; the cores of the step are all in use: a direct `srun -n2`, `-c`, `--exact`"),
    ROW(BLOCK_NO_ROOM, block_no_room,
        "no hints; the NUMA nodes near the NIC have too few cores for these ranks"),
    ROW(EVEN, even, "one NUMA node, or a NIC beside each"),
    ROW(FREE_NOT_ASKED, free_not_asked,
        "ranks are bound, and cores of the step are free nearer the NIC; nobody typed `--nuioa`"),
    ROW(FREE_BOUND, free_bound, "the same; `--nuioa=force` and a typed `--cpu-bind`"),
    ROW(FREE_GPUS, free_gpus, "the same; `--nuioa=force`, and GPUs that are not followed"),
    ROW(FREE_UNCONFINED, free_unconfined,
        "the same, but other jobs may have these cores: nothing confines ranks to the step"),
    ROW(FREE_OVERLAP, free_overlap, "the same; `srun --overlap`"),
    ROW(FREE_KEEP, free_keep, "the same; `--nuioa-cores=keep`"),
    ROW(ALONE_MOVED, alone, "one rank, bound, in a wider step"),
    ROW(ALONE_NEAREST, alone_nearest, "the same; it is there already"),
    ROW(ALONE_NO_FREE, alone_no_free, "the same; a step of few cores has none that are nearer"),
    ROW(ALONE_COSTS, alone_costs, "the same, with hints; elsewhere it would have a slower NIC"),
    ROW(ALONE_ALL, alone_all,
        "one rank that has all CPUs of its step, and others of the node are nearer: a "
        "direct `srun -n1`, `srun -c`, `--exact`"),
    ROW(ALONE_NOT_ASKED, alone_not_asked,
        "the same, several NUMA nodes; nobody typed `--nuioa`, or `--nuioa-cores=keep`"),
    ROW(ALONE_WIDE, alone_wide, "one rank, not bound, in a step of several NUMA nodes"),
    ROW(ALONE_TYPED, alone_typed, "the same, with `sbatch -c` or `salloc -c`"),
    ROW(ALONE_OVERLAP, alone_overlap, "the same, with `srun --overlap`"),
    ROW(SHARE, share, "several ranks, not bound; no hints"),
    ROW(SHARE_HEAVIER, share_heavier, "the same, with hints"),
    ROW(SHARE_TRAFFIC, share_traffic, "the same, with a profile with pairs of ranks"),
    ROW(SHARE_NEAREST, share_nearest, "the same, in a step of the NIC's NUMA node"),
    ROW(SHARE_FAR, share_far, "the same, in a step of one NUMA node that is farther"),
    ROW(SHARE_COSTS, share_costs, "the same; ranks talk to each other more than to other nodes"),
    ROW(SHARE_CROWDED, share_crowded, "more ranks than cores"),
    ROW(SHARE_TYPED, share_typed, "the parts would be smaller than `-c` of sbatch or salloc"),
    ROW(SHARE_UNEQUAL, share_unequal, "`--nuioa-cores=share`; masks overlap in part"),
    ROW(SHARE_OVERLAP, share_overlap, "several ranks, not bound, with `srun --overlap`"),
    ROW(SHARE_UNCONFINED, share_unconfined,
        "ranks, not bound, may run on CPUs that the step does not have"),
    ROW(SHARE_NOT_ASKED, share_not_asked,
        "several ranks, not bound; nobody typed `--nuioa`, or `--nuioa-cores=keep`"),
    ROW(FOLLOW, follow, "the step has GPUs; each rank's are known; ranks are bound"),
    ROW(FOLLOW_FREE, follow_free, "the same; cores of the step are free beside GPUs"),
    ROW(FOLLOW_NEAREST, follow_nearest, "the same; Slurm had put the ranks beside their GPUs"),
    ROW(FOLLOW_FAR, follow_far, "the same; no exchange and no free core brings a rank nearer"),
    ROW(FOLLOW_NO_FREE, follow_no_free,
        "the same; but cores are free beside GPUs: `srun --overlap`, `--nuioa-cores=keep`, "
        "`--nuioa=force` with `--cpu-bind`, or `gpus=follow` where nobody typed `--nuioa`"),
    ROW(FOLLOW_SHARE, follow_share, "the step has GPUs; each rank's are known; not bound"),
    ROW(FOLLOW_SHARE_FAR, follow_share_far, "the same; more ranks than have room beside a GPU"),
    ROW(FOLLOW_SHARE_TAKES, follow_share_takes, "the same; the GPUs of all are on one socket"),
    ROW(FOLLOW_ALONE, follow_alone,
        "the step has GPUs; one rank, and other CPUs of the step are nearer"),
    ROW(FOLLOW_COSTS, follow_costs, "the step has GPUs; with hints; J would rise"),
    ROW(PACK, pack, "`--nuioa-cores=pack`"),
    ROW(PACK_NEAREST, pack_nearest, "the same; Slurm had put the ranks there"),
    ROW(PACK_COSTS, pack_costs, "the same; Slurm's masks were better"),
};

void reason_case_free(struct plan_case *s)
{
    plan_case_free(s);
    reason_free_end();
}
