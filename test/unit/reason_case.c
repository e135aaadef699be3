/* SPDX-License-Identifier: BSD-3-Clause */
#include "reason_case.h"

#include "machine.h"
#include "unit.h"
#include "util/word.h"

/* --- the words of a situation ----------------------------------------------------------------- */

static void machine(struct plan_case *s, const char *name, const char *value)
{
    static const uint32_t row[] = { 10, 20, 40, 20, 10, 20, 40, 20, 10 };
    unsigned numas, cores;
    if (!strcmp(name, "hagrid"))
        machine_hagrid(&s->node, (unsigned)atoi(value));
    else if (!strcmp(name, "quad"))
        machine_quad(&s->node);
    else if (!strcmp(name, "row"))
        machine_build(&s->node, &(struct shape){ 3, 2, 1, 1, row });
    else if (sscanf(value, "%ux%u", &numas, &cores) == 2)
        machine_plain(&s->node, numas, cores);
}

static void nic(struct plan_case *s, const char *name, const char *value)
{
    char next[16];
    (void)name;
    snprintf(next, sizeof(next), "mlx5_%u", s->node.nic_count);
    machine_nic(&s->node, next, (unsigned)atoi(value));
}

static void gpu(struct plan_case *s, const char *name, const char *value)
{
    (void)name;
    machine_gpu(&s->node, (unsigned)atoi(value));
}

/* What is wrong with the NICs or the GPUs of the node, or with its NUMA nodes. */
static void fault(struct plan_case *s, const char *name, const char *value)
{
    struct nuioa_nic *first = &s->node.nics[0];
    (void)value;
    if (!strcmp(name, "down")) {
        first->state = NUIOA_NIC_DOWN;
    } else if (!strcmp(name, "slow")) {
        first->rate_mbps = 80000;
    } else if (!strcmp(name, "nowhere")) {
        free(first->level);
        first->level = NULL;
        hwloc_bitmap_zero(first->numas);
    } else if (!strcmp(name, "gpu_nowhere")) {
        hwloc_bitmap_zero(s->node.gpus[1].numas);
    } else {
        s->node.cut = true;
    }
}

static void cpus(struct plan_case *s, const char *name, const char *value)
{
    if (!strcmp(name, "step"))
        plan_case_step(s, value);
    else
        assert_int_equal(hwloc_bitmap_list_sscanf(s->node.allowed_cpus, value), 0);
}

static void ranks(struct plan_case *s, const char *name, const char *value)
{
    unsigned tasks, each;
    if (!strcmp(name, "first")) {
        s->request.task_count = (unsigned)atoi(value);
    } else {
        assert_int_equal(sscanf(value, "%ux%u", &tasks, &each), 2);
        plan_case_on(s, tasks, each);
    }
}

static void masks(struct plan_case *s, const char *name, const char *value)
{
    if (!strcmp(name, "masks"))
        plan_case_bind(s, value);
    else
        plan_case_unbind(s);
}

static void asked(struct plan_case *s, const char *name, const char *value)
{
    (void)value;
    s->options.asked = !strcmp(name, "asked");
}

static void weights(struct plan_case *s, const char *name, const char *value)
{
    double weight[PLAN_CASE_TASKS_MAX] = { 0 };
    if (!strcmp(name, "falling"))
        plan_case_weigh_by(s, plan_case_descending);
    else if (!strcmp(name, "equal"))
        plan_case_weigh_by(s, plan_case_equal);
    else {
        for (unsigned i = 0; *value; i++, value += strspn(value, ","))
            weight[i] = strtod(value, (char **)&value);
        plan_case_weigh(s, weight);
    }
}

/* A profile: "0-1:9,2-3:9"; with all_pairs, all ranks send each other as much. */
static void pairs(struct plan_case *s, const char *name, const char *value)
{
    static struct nuioa_pair list[64]; /* of one case at a time */
    uint32_t count = 0, n = s->request.task_count;
    (void)name;
    for (int used; sscanf(value, "%u-%u:%lf%n", &list[count].first, &list[count].second,
                          &list[count].bytes, &used) == 3;
         count++)
        value += used + (value[used] == ',');
    for (uint32_t i = 0; !count && i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            list[i * n + k - (i + 1) * (i + 2) / 2] = (struct nuioa_pair){ i, k, 1 };
    s->request.hinted = true;
    s->request.pairs = list;
    s->request.pair_count = count ? count : n * (n - 1) / 2;
}

static void gpus_of_ranks(struct plan_case *s, const char *name, const char *value)
{
    (void)name;
    plan_case_gpus(s, value);
}

/* A member of the request: a switch, or a number. */
static void member(struct plan_case *s, const char *name, const char *value)
{
    struct nuioa_request *r = &s->request;
    const struct {
        const char *name;
        bool *on;
        uint32_t *number;
    } members[] = {
        { "bound_by_user", &r->bound_by_user, NULL },
        { "bound_by_outer", &r->bound_by_outer, NULL },
        { "memory_by_user", &r->memory_by_user, NULL },
        { "memory_by_rank", &r->memory_by_rank, NULL },
        { "memory_by_outer", &r->memory_by_outer, NULL },
        { "sees_gpu", &r->sees_gpu, NULL },
        { "overlaps", &r->overlaps, NULL },
        { "unconfined", &r->unconfined, NULL },
        { "cpus_typed", NULL, &r->cpus_typed },
        { "cpus_per_task", NULL, &r->cpus_per_task },
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (!strcmp(members[i].name, name)) {
            if (members[i].on)
                *members[i].on = true;
            else
                *members[i].number = (uint32_t)atoi(value);
            return;
        }
    fail_msg("no word: %s", name);
}

static const struct {
    const char *names; /* separated by '|' */
    void (*apply)(struct plan_case *s, const char *name, const char *value);
} words[] = {
    { "hagrid|quad|row|plain", machine },
    { "nic", nic },
    { "gpu", gpu },
    { "down|slow|nowhere|gpu_nowhere|cut", fault },
    { "cpus|step", cpus },
    { "ranks|first", ranks },
    { "masks|unbound", masks },
    { "asked|not_asked", asked },
    { "falling|equal|weights", weights },
    { "pairs|all_pairs", pairs },
    { "gpus", gpus_of_ranks },
};

static void apply(struct plan_case *s, char *name, const char *value)
{
    if (!strncmp(name, "--", 2)) {
        plan_case_option(s, name + 2, value);
        return;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (nuioa_word_index(words[i].names, name) >= 0) {
            words[i].apply(s, name, value);
            return;
        }
    member(s, name, value);
}

void reason_case_set(const struct reason_case *situation, struct plan_case *s)
{
    char copy[512], *rest = copy, *word;
    assert_true(strlen(situation->words) < sizeof(copy));
    strcpy(copy, situation->words);
    while ((word = nuioa_next_word(&rest, " "))) {
        char *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        apply(s, word, value ? value : "");
    }
}

/* --- the table -------------------------------------------------------------------------------- */

#define BOUND "hagrid=5 ranks=16x1 "
#define TWO "hagrid=5 ranks=2x1 asked " /* on NUMA node 0; the step is the whole node */
#define ALONE "hagrid=5 ranks=1x1 asked "
#define UNBOUND(ranks) "hagrid=5 ranks=" ranks "x0 asked unbound "
#define PACK "hagrid=5 ranks=2x1 falling --cores=pack masks=10;11 "
/* Two ranks on two sockets, each with a GPU of the other one. */
#define FOLLOW "plain=2x2 nic=0 gpu=0 gpu=1 ranks=2x2 asked gpus=1;0 "

#define ROW(reason, name, words, when) [NUIOA_REASON_##reason] = { #name, words, when }

const struct reason_case reason_cases[NUIOA_REASON_COUNT] = {
    ROW(OFF, off, BOUND "--nuioa=off", "`--nuioa=report,off`"),
    ROW(EXPORT, export_only, BOUND "--nuioa=export", "`--nuioa=export`"),
    ROW(CPU_BIND, cpu_bind, BOUND "bound_by_user",
        "`--cpu-bind` with masks, CPUs, ranks or `none`"),
    ROW(CPU_BIND_OUTER, cpu_bind_outer, BOUND "bound_by_user bound_by_outer",
        "srun in a rank of another step, whose `SLURM_CPU_BIND` gives ranks a part of this one"),
    ROW(MEM_BIND, mem_bind, BOUND "memory_by_user memory_by_rank",
        "`--mem-bind` with `map_mem`, `mask_mem` or `rank`"),
    ROW(MEM_BIND_OUTER, mem_bind_outer, BOUND "memory_by_user memory_by_rank memory_by_outer",
        "srun in a rank of another step, whose `SLURM_MEM_BIND` is such a list"),
    ROW(GPUS, gpus, BOUND "sees_gpu --gpus=follow --cores=pack",
        "the step has GPUs; `--nuioa-cores=pack`"),
    ROW(GPUS_KEEP, gpus_keep, FOLLOW "not_asked",
        "the step has GPUs; nobody typed `--nuioa`, or `--nuioa-gpus=keep`"),
    ROW(GPUS_UNKNOWN, gpus_unknown, FOLLOW "gpus=0;?",
        "the step has GPUs; nothing says which rank has which"),
    ROW(GPUS_SHARED, gpus_shared, FOLLOW "gpus=?0,1;?0,1",
        "the step has GPUs; several ranks see the same ones, and more than one"),
    ROW(GPUS_NO_NUMA, gpus_no_numa, FOLLOW "gpu_nowhere",
        "the step has GPUs; the firmware does not say where one is"),
    ROW(NO_NIC, no_nic, BOUND "--nic=^mlx4_0", "no NIC, or `--nuioa-nic` leaves none"),
    ROW(NIC_DOWN, nic_down, BOUND "down",
        "no NIC is up, or none of those that `--nuioa-nic` names"),
    ROW(NO_NUMA, no_numa, BOUND "nowhere", "the firmware does not say where the NIC is"),
    ROW(NUMA_CUT, numa_cut, BOUND "nowhere cut",
        "a virtual machine whose NUMA nodes cut through cores or packages"),
    ROW(NO_BETTER, equal_weights, BOUND "equal", "hints; the masks are as good as they can be"),
    ROW(NO_BETTER_NO_FREE, better_no_free, TWO "step=0-1 equal",
        "the same, one NIC; the cores of the step are all in use, and others are nearer"),
    ROW(RAILS, four_rails, "plain=4x4 nic=0 nic=1 nic=2 nic=3 ranks=16x1 weights=1,1,1,1",
        "the same, but heavy ranks were beside one NIC of several"),
    ROW(TRAFFIC, traffic, BOUND "falling pairs=0-15:100", "a profile with pairs of ranks"),
    ROW(TRAFFIC_RAILS, traffic_rails, "quad ranks=8x2 weights=8,8,4,4,1,1,1,1 pairs=4-5:9,6-7:9",
        "the same, several NICs"),
    ROW(NEIGHBOURS, neighbours, BOUND "falling pairs=0-15:100 down",
        "a profile with pairs of ranks; no NIC is up, or its place is unknown"),
    ROW(HEAVIER, hinted, BOUND "falling", "hints without pairs of ranks"),
    ROW(HEAVIER_RAILS, heavier_rails, "quad ranks=8x2 weights=8,8,1,1,1,1,1,1",
        "the same, several NICs"),
    ROW(BLOCK_MOVED, bound, BOUND, "no hints; ranks are bound"),
    ROW(BLOCK_NEAREST, block_nearest, "hagrid=0 ranks=16x1",
        "no hints; the lowest rank is beside the NIC already"),
    ROW(BLOCK_SPREAD, block_spread,
        "plain=2x24 nic=1 ranks=17x2 masks=3,47;2-3;3,47;6-7;3,47;10-11;3,47;14-15;3,47;18-19;3,47;"
        "22-23;3,47;26-27;3,47;30-31;3,47",
        "no hints; more than 8 ranks, or masks that overlap; ranks have only some NUMA nodes in "
        "common"),
    ROW(BLOCK_SPREAD_EQUAL, block_spread_equal, TWO "masks=0,2-4;1,8-10",
        "the same; the masks are equally near the NIC"),
    ROW(BLOCK_SEPARATES, block_separates, "row nic=1 ranks=6x1",
        "no hints; neighbours would be farther apart"),
    ROW(BLOCK_HINT, block_hint, "plain=2x2 nic=1 cpus=0-2 ranks=3x1",
        "no hints; the ranks on the NIC's NUMA node are fewer than the lowest rank's, and no core "
        "is free"),
    ROW(BLOCK_NO_FREE, block_no_free, TWO "step=0-1",
        "no hints; the cores of the step are all in use: a direct `srun -n2`, `-c`, `--exact`"),
    ROW(BLOCK_NO_ROOM, block_no_room, "plain=2x2 nic=1 cpus=0-2 ranks=2x1",
        "no hints; the NUMA nodes near the NIC have too few cores for these ranks"),
    ROW(EVEN, even, "plain=1x4 nic=0 ranks=4x1", "one NUMA node, or a NIC beside each"),
    ROW(FREE_NOT_ASKED, free_not_asked, TWO "not_asked",
        "ranks are bound, and cores of the step are free nearer the NIC; nobody typed `--nuioa`"),
    ROW(FREE_BOUND, free_bound, TWO "bound_by_user --nuioa=force",
        "the same; `--nuioa=force` and a typed `--cpu-bind`"),
    ROW(FREE_GPUS, free_gpus, TWO "sees_gpu --nuioa=force --gpus=keep",
        "the same; `--nuioa=force`, and GPUs that are not followed"),
    ROW(FREE_UNCONFINED, free_unconfined, TWO "unconfined",
        "the same, but other jobs may have these cores: nothing confines ranks to the step"),
    ROW(FREE_OVERLAP, free_overlap, TWO "overlaps", "the same; `srun --overlap`"),
    ROW(FREE_KEEP, free_keep, TWO "--cores=keep", "the same; `--nuioa-cores=keep`"),
    ROW(ALONE_MOVED, alone, ALONE, "one rank, bound, in a wider step"),
    ROW(ALONE_NEAREST, alone_nearest, ALONE "masks=10", "the same; it is there already"),
    ROW(ALONE_NO_FREE, alone_no_free, ALONE "step=0-1",
        "the same; a step of few cores has none that are nearer"),
    ROW(ALONE_COSTS, alone_costs,
        "plain=3x2 nic=1 slow nic=2 cpus=0-3 ranks=1x1 asked --nic=mlx5_0,mlx5_1 equal",
        "the same, with hints; elsewhere it would have a slower NIC"),
    ROW(ALONE_ALL, alone_all, "hagrid=5 ranks=1x4 asked cpus_typed=4 step=0-3",
        "one rank that has all CPUs of its step, and others of the node are nearer: a "
        "direct `srun -n1`, `srun -c`, `--exact`"),
    ROW(ALONE_NOT_ASKED, alone_not_asked, UNBOUND("1") "not_asked",
        "the same, several NUMA nodes; nobody typed `--nuioa`, or `--nuioa-cores=keep`"),
    ROW(ALONE_WIDE, alone_wide, UNBOUND("1"),
        "one rank, not bound, in a step of several NUMA nodes"),
    ROW(ALONE_TYPED, alone_typed, UNBOUND("1") "cpus_typed=4",
        "the same, with `sbatch -c` or `salloc -c`"),
    ROW(ALONE_OVERLAP, alone_overlap, UNBOUND("1") "overlaps", "the same, with `srun --overlap`"),
    ROW(SHARE, share, UNBOUND("5"), "several ranks, not bound; no hints"),
    ROW(SHARE_HEAVIER, share_heavier, UNBOUND("5") "falling", "the same, with hints"),
    ROW(SHARE_TRAFFIC, share_traffic, UNBOUND("8") "falling pairs=0-1:9,2-3:9,4-5:9,6-7:9",
        "the same, with a profile with pairs of ranks"),
    ROW(SHARE_NEAREST, share_nearest, UNBOUND("2") "masks=10-11;10-11",
        "the same, in a step of the NIC's NUMA node"),
    ROW(SHARE_FAR, share_far, UNBOUND("2") "masks=0-1;0-1",
        "the same, in a step of one NUMA node that is farther"),
    ROW(SHARE_COSTS, share_costs, UNBOUND("8") "all_pairs",
        "the same; ranks talk to each other more than to other nodes"),
    ROW(SHARE_CROWDED, share_crowded, UNBOUND("17"), "more ranks than cores"),
    ROW(SHARE_TYPED, share_typed, UNBOUND("3") "cpus_typed=6",
        "the parts would be smaller than `-c` of sbatch or salloc"),
    ROW(SHARE_UNEQUAL, share_unequal, UNBOUND("3") "masks=0-15;0-15;1-15 --cores=share",
        "`--nuioa-cores=share`; masks overlap in part"),
    ROW(SHARE_OVERLAP, share_overlap, UNBOUND("3") "overlaps",
        "several ranks, not bound, with `srun --overlap`"),
    ROW(SHARE_UNCONFINED, share_unconfined, UNBOUND("3") "unconfined",
        "ranks, not bound, may run on CPUs that the step does not have"),
    ROW(SHARE_NOT_ASKED, share_not_asked, UNBOUND("3") "not_asked",
        "several ranks, not bound; nobody typed `--nuioa`, or `--nuioa-cores=keep`"),
    ROW(FOLLOW, follow, FOLLOW, "the step has GPUs; each rank's are known; ranks are bound"),
    ROW(FOLLOW_FREE, follow_free, FOLLOW "masks=0;2 gpus=1;1",
        "the same; cores of the step are free beside GPUs"),
    ROW(FOLLOW_NEAREST, follow_nearest, FOLLOW "gpus=0;1",
        "the same; Slurm had put the ranks beside their GPUs"),
    ROW(FOLLOW_FAR, follow_far, FOLLOW "gpus=0;0",
        "the same; no exchange and no free core brings a rank nearer"),
    ROW(FOLLOW_NO_FREE, follow_no_free, FOLLOW "masks=0;2 gpus=1;1 --cores=keep",
        "the same; but cores are free beside GPUs: `srun --overlap`, `--nuioa-cores=keep`, "
        "`--nuioa=force` with `--cpu-bind`, or `gpus=follow` where nobody typed `--nuioa`"),
    ROW(FOLLOW_SHARE, follow_share, FOLLOW "unbound",
        "the step has GPUs; each rank's are known; not bound"),
    ROW(FOLLOW_SHARE_FAR, follow_share_far,
        "plain=2x3 gpu=0 ranks=2x2 asked gpus=0;0 masks=0-3;0-3",
        "the same; more ranks than have room beside a GPU"),
    ROW(FOLLOW_SHARE_TAKES, follow_share_takes, FOLLOW "unbound gpus=1;1",
        "the same; the GPUs of all are on one socket"),
    ROW(FOLLOW_ALONE, follow_alone, FOLLOW "first=1",
        "the step has GPUs; one rank, and other CPUs of the step are nearer"),
    ROW(FOLLOW_COSTS, follow_costs, FOLLOW "weights=2,1",
        "the step has GPUs; with hints; J would rise"),
    ROW(PACK, pack, "hagrid=5 ranks=4x1 falling --cores=pack", "`--nuioa-cores=pack`"),
    ROW(PACK_NEAREST, pack_nearest, PACK, "the same; Slurm had put the ranks there"),
    ROW(PACK_COSTS, pack_costs, PACK "cpus_per_task=4", "the same; Slurm's masks were better"),
};
