/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/library_variables.h"
#include "plan_words.h"
#include "unit.h"

/* The variables of other programs that choose NICs. */

static const char *variable(struct plan_case *s, unsigned local, const char *name)
{
    static char env[16384];
    nuioa_options_finish(&s->options);
    assert_true(nuioa_library_variables(&s->plan, &s->node, &s->options, local, env, sizeof(env)) >
                0);
    return plan_case_variable(env, name);
}

/* Four ranks on the machine "quad" with two GPUs beside no NIC. */
static struct plan_case *exporting(const char *what)
{
    struct plan_case *s = plan_case_of("quad gpu=0 gpu=0 ranks=4x4");
    plan_case_option(s, "export", what);
    return s;
}

/* Each rank has its own NIC. For NCCL all ranks get the same value: no NIC, or all chosen ones. */
TEST(test_nccl)
{
    struct plan_case *s = exporting("ucx,nccl");
    plan_case_make(s);
    assert_string_equal(variable(s, 0, "UCX_NET_DEVICES"), "mlx5_0:1");
    assert_string_equal(variable(s, 3, "UCX_NET_DEVICES"), "mlx5_1:1");
    for (unsigned i = 0; i < 4; i++)
        assert_null(variable(s, i, "NCCL_IB_HCA"));
    plan_case_option(s, "nic", "mlx5_1,mlx5_0");
    plan_case_make(s);
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(variable(s, i, "NCCL_IB_HCA"), "=mlx5_0:1,mlx5_1:1");
    plan_case_option(s, "nic", "^mlx5_0");
    plan_case_make(s);
    assert_string_equal(variable(s, 0, "NCCL_IB_HCA"), "=mlx5_1:1");
    assert_null(variable(s, 0, "NCCL_SOCKET_IFNAME"));

    for (unsigned i = 0; i < 2; i++) {
        s->node.nics[i].kind = NUIOA_NIC_SLINGSHOT;
        s->node.nics[i].port = 0;
        snprintf(s->node.nics[i].name, sizeof(s->node.nics[i].name), "hsn%u", i);
        snprintf(s->node.nics[i].netdev, sizeof(s->node.nics[i].netdev), "hsn%u", i);
    }
    plan_case_option(s, "nic", "slingshot");
    plan_case_make(s);
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(variable(s, i, "NCCL_SOCKET_IFNAME"), "=hsn0,hsn1");
    assert_null(variable(s, 0, "NCCL_IB_HCA"));
}

/* A task that looks up its NICs knows how many are usable, and not which. */
TEST(test_unknown_usable)
{
    struct plan_case *s = exporting("auto,ucx,nccl");
    plan_case_option(s, "nic", "mlx5_1,mlx5_0");
    plan_case_make(s);
    const struct nuioa_usable usable = s->plan.usable;
    assert_non_null(variable(s, 0, "NCCL_IB_HCA"));
    s->plan.usable.nics = NULL;
    s->plan.usable.count = 4; /* more than UCX takes, so that it would look for others */
    assert_string_equal(variable(s, 0, "UCX_NET_DEVICES"), "mlx5_0:1");
    assert_null(variable(s, 0, "NCCL_IB_HCA"));
    assert_null(variable(s, 0, "NCCL_SOCKET_IFNAME"));
    assert_int_equal(nuioa_library_auto_why(&s->plan, &s->node, 0), NUIOA_AUTO_GPUS);
    s->plan.usable = usable;
}

/* Gives rank 0 these NICs of the machine "quad", which has two. */
static void give_nics(struct plan_case *s, uint32_t first, uint32_t count)
{
    struct nuioa_assignment *assignment = &s->plan.assignments[0];
    assignment->nics = nuioa_arena_take(&s->plan.arena, 2, sizeof(*assignment->nics));
    assert_non_null(assignment->nics);
    assignment->nics[0] = first;
    assignment->nics[1] = !first;
    assignment->nic = (int32_t)first;
    assignment->nic_count = count;
}

/* A rank gets its own NICs only if they reach those of all others. */
TEST(test_connected)
{
    struct plan_case *s = exporting("ucx,ofi");
    plan_case_make(s);
    assert_true(s->plan.usable.connected);
    give_nics(s, 1, 1);
    assert_string_equal(variable(s, 0, "UCX_NET_DEVICES"), "mlx5_1:1");
    assert_string_equal(variable(s, 0, "FI_VERBS_DEVICE_NAME"), "mlx5_1");
    assert_string_equal(variable(s, 0, "HCOLL_MAIN_IB"), "mlx5_1:1");
    give_nics(s, 1, 2);
    assert_string_equal(variable(s, 0, "HCOLL_MAIN_IB"), "mlx5_1:1"); /* it takes one */
    assert_string_equal(variable(s, 0, "UCX_NET_DEVICES"), "mlx5_1:1,mlx5_0:1");
    assert_null(variable(s, 0, "UCX_MAX_RNDV_RAILS"));   /* UCX uses two by itself */
    assert_null(variable(s, 0, "FI_VERBS_DEVICE_NAME")); /* it takes one */

    for (unsigned i = 0; i < 2; i++)
        s->node.nics[i].fabric[0] = '\0'; /* the subnet is unknown */
    plan_case_make(s);
    assert_false(s->plan.usable.connected);
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(variable(s, i, "UCX_NET_DEVICES"), "mlx5_0:1,mlx5_1:1");
        assert_null(variable(s, i, "FI_VERBS_DEVICE_NAME"));
        assert_null(variable(s, i, "HCOLL_MAIN_IB"));
    }
    plan_case_option(s, "rails", "connected");
    plan_case_make(s);
    assert_true(s->plan.usable.connected);
    assert_string_equal(variable(s, 3, "UCX_NET_DEVICES"), "mlx5_1:1");

    plan_case_option(s, "nic", "mlx5_1");
    plan_case_option(s, "rails", "auto");
    plan_case_make(s);
    assert_true(s->plan.usable.connected); /* there is one only */
    assert_string_equal(variable(s, 0, "FI_VERBS_DEVICE_NAME"), "mlx5_1");
}

/* A message goes over as many NICs as the rank has, also where UCX is told those of all ranks. */
TEST(test_rails_of_ucx)
{
    static const struct {
        unsigned tasks;
        bool connected;
        const char *rails;
    } cases[] = { { 1, true, "4" }, { 1, false, "4" }, { 2, false, NULL }, { 4, false, NULL } };
    for (unsigned t = 0; t < 4; t++) {
        struct plan_case *s = plan_case_of(
            "plain=1x4 nic=0 nic=0 nic=0 nic=0 ranks=%ux1 --export=ucx", cases[t].tasks);
        for (unsigned i = 0; i < 4 && !cases[t].connected; i++)
            s->node.nics[i].fabric[0] = '\0'; /* the subnet is unknown */
        plan_case_make(s);
        assert_string_equal(variable(s, 0, "UCX_NET_DEVICES"),
                            "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1");
        if (cases[t].rails)
            assert_string_equal(variable(s, 0, "UCX_MAX_RNDV_RAILS"), cases[t].rails);
        else
            assert_null(variable(s, 0, "UCX_MAX_RNDV_RAILS"));
    }
}

static void set_kind(struct plan_case *s, enum nuioa_nic_kind kind, const char *name)
{
    for (unsigned i = 0; i < 2; i++) {
        s->node.nics[i].kind = kind;
        snprintf(s->node.nics[i].name, sizeof(s->node.nics[i].name), "%s%u", name, i);
    }
    plan_case_make(s);
}

/* Each kind has its own variables. */
TEST(test_kinds)
{
    struct plan_case *s = exporting("ucx,ofi,psm");
    set_kind(s, NUIOA_NIC_EFA, "rdmap");
    give_nics(s, 0, 2);
    assert_null(variable(s, 0, "FI_EFA_IFACE")); /* a rank without GPUs, as for Slingshot */
    s->plan.assignments[0].gpu_count = 1;
    assert_string_equal(variable(s, 0, "FI_EFA_IFACE"), "rdmap0,rdmap1");
    s->plan.assignments[0].gpu_count = 0;
    assert_null(variable(s, 0, "UCX_NET_DEVICES")); /* UCX before 1.18 would find no device */
    set_kind(s, NUIOA_NIC_OMNIPATH, "hfi1_");
    assert_null(variable(s, 0, "HFI_UNIT")); /* two planes are possible */
    plan_case_option(s, "rails", "connected");
    set_kind(s, NUIOA_NIC_OMNIPATH, "hfi1_");
    assert_string_equal(variable(s, 3, "HFI_UNIT"), "1");
    assert_string_equal(variable(s, 3, "FI_OPX_HFI_SELECT"), "1");
    give_nics(s, 0, 2);
    assert_null(variable(s, 0, "HFI_UNIT"));
}

/* The site's NICs reach NCCL also where a task has more GPUs than there are NICs. */
TEST(test_nccl_gpus)
{
    struct plan_case *s = exporting("nccl");
    plan_case_option(s, "nic", "mlx5_0,mlx5_1");
    plan_case_make(s);
    s->plan.assignments[2].gpu_count = 3;
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(variable(s, i, "NCCL_IB_HCA"), "=mlx5_0:1,mlx5_1:1");
}

/* libfabric takes all devices whose names begin with the value, in upper or lower case. */
TEST(test_prefixes)
{
    static const struct {
        const char *other;
        bool set;
    } cases[] = { { "mlx5_10", false },
                  { "MLX5_1x", false },
                  { "mlx5_2", true },
                  { "mlx5_", true },
                  { "1mlx5_1", true } };
    struct plan_case *s = exporting("ofi");
    for (unsigned t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        snprintf(s->node.nics[0].name, sizeof(s->node.nics[0].name), "%s", cases[t].other);
        plan_case_make(s);
        give_nics(s, 1, 1);
        if (cases[t].set)
            assert_string_equal(variable(s, 0, "FI_VERBS_DEVICE_NAME"), "mlx5_1");
        else
            assert_null(variable(s, 0, "FI_VERBS_DEVICE_NAME"));
    }
}

/* Gives rank 0 the first GPUs of the machine, of this vendor. */
static void give_gpus(struct plan_case *s, uint32_t count, enum nuioa_gpu_vendor vendor)
{
    struct nuioa_assignment *assignment = &s->plan.assignments[0];
    assignment->gpus = nuioa_arena_take(&s->plan.arena, 2, sizeof(*assignment->gpus));
    assert_non_null(assignment->gpus);
    assignment->gpus[1] = 1;
    assignment->gpu_count = count;
    s->node.gpus[0].vendor = vendor;
}

/* Only ranks with GPUs get these variables, if they have one NIC. */
TEST(test_gpus)
{
    struct plan_case *s = exporting("nvshmem,psm");
    plan_case_option(s, "rails", "connected");
    set_kind(s, NUIOA_NIC_ROCE, "rocep");
    give_nics(s, 1, 1);
    assert_null(variable(s, 0, "PSM3_NIC"));
    assert_null(variable(s, 0, "NVSHMEM_HCA_LIST"));
    give_gpus(s, 1, NUIOA_GPU_NVIDIA);
    assert_string_equal(variable(s, 0, "PSM3_NIC"), "rocep1");
    assert_string_equal(variable(s, 0, "NVSHMEM_HCA_LIST"), "rocep1:1");
    assert_string_equal(variable(s, 0, "NVSHMEM_ENABLE_NIC_PE_MAPPING"), "1");
    assert_null(variable(s, 1, "PSM3_NIC"));
    give_gpus(s, 2, NUIOA_GPU_NVIDIA);
    assert_null(variable(s, 0, "NVSHMEM_HCA_LIST")); /* nobody knows which one it uses */
    give_gpus(s, 1, NUIOA_GPU_AMD);
    assert_null(variable(s, 0, "NVSHMEM_HCA_LIST"));
    assert_string_equal(variable(s, 0, "PSM3_NIC"), "rocep1");
    give_nics(s, 1, 2);
    assert_null(variable(s, 0, "PSM3_NIC"));
    give_nics(s, 1, 1);
    snprintf(s->node.nics[1].name, sizeof(s->node.nics[1].name), "bed0");
    assert_null(variable(s, 0, "PSM3_NIC")); /* it would be a number */
    snprintf(s->node.nics[1].name, sizeof(s->node.nics[1].name), "roce*");
    assert_null(variable(s, 0, "PSM3_NIC"));
    s->plan.usable.connected = false;
    give_gpus(s, 1, NUIOA_GPU_NVIDIA);
    assert_null(variable(s, 0, "NVSHMEM_HCA_LIST"));
}

/* libfabric finds the names of Slingshot's devices anywhere in the value. */
TEST(test_slingshot)
{
    struct plan_case *s = exporting("ofi");
    set_kind(s, NUIOA_NIC_SLINGSHOT, "hsn");
    give_nics(s, 1, 1);
    give_gpus(s, 2, NUIOA_GPU_AMD);
    assert_null(variable(s, 0, "FI_CXI_DEVICE_NAME")); /* nobody knows its name */
    snprintf(s->node.nics[1].cxi, sizeof(s->node.nics[1].cxi), "cxi10");
    assert_string_equal(variable(s, 0, "FI_CXI_DEVICE_NAME"), "cxi10");
    assert_null(variable(s, 1, "FI_CXI_DEVICE_NAME")); /* it has no GPU */
    snprintf(s->node.nics[0].cxi, sizeof(s->node.nics[0].cxi), "cxi1");
    assert_null(variable(s, 0, "FI_CXI_DEVICE_NAME"));
    snprintf(s->node.nics[0].cxi, sizeof(s->node.nics[0].cxi), "cxi2");
    assert_string_equal(variable(s, 0, "FI_CXI_DEVICE_NAME"), "cxi10");
    give_nics(s, 1, 2);
    assert_null(variable(s, 0, "FI_CXI_DEVICE_NAME"));
}

/* Cray's MPICH takes a NIC by the CPUs; with GPUs it is told the NIC of each rank, if all are
 * known. */
TEST(test_mpich)
{
    struct plan_case *s = exporting("mpich");
    set_kind(s, NUIOA_NIC_SLINGSHOT, "hsn");
    assert_string_equal(variable(s, 0, "MPICH_OFI_NIC_POLICY"), "NUMA");
    assert_null(variable(s, 0, "MPICH_OFI_NIC_MAPPING"));
    for (unsigned i = 0; i < 2; i++)
        snprintf(s->node.nics[i].cxi, sizeof(s->node.nics[i].cxi), "cxi%u", i);
    s->plan.assignments[2].gpu_count = 1;
    for (unsigned i = 0; i < 4; i++)
        assert_null(variable(s, i, "MPICH_OFI_NIC_POLICY"));
    for (unsigned i = 0; i < 4; i++)
        s->plan.assignments[i].gpu_count = 1;
    give_nics(s, 1, 1);
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(variable(s, i, "MPICH_OFI_NIC_POLICY"), "USER");
        assert_string_equal(variable(s, i, "MPICH_OFI_NIC_MAPPING"), "0:1;1:0,2,3");
    }
    snprintf(s->node.nics[1].cxi, sizeof(s->node.nics[1].cxi), "cxi2"); /* no number of MPICH's */
    assert_null(variable(s, 0, "MPICH_OFI_NIC_POLICY"));
    snprintf(s->node.nics[1].cxi, sizeof(s->node.nics[1].cxi), "cxi1");
    give_nics(s, 1, 2);
    assert_null(variable(s, 0, "MPICH_OFI_NIC_POLICY"));
    for (unsigned i = 0; i < 4; i++)
        s->plan.assignments[i].gpu_count = 0;
}

/* A NIC that is doubted is named to nobody, alone or in a list of all. */
TEST(test_doubted)
{
    struct plan_case *s = exporting("ucx,ofi");
    plan_case_make(s);
    give_gpus(s, 1, NUIOA_GPU_NVIDIA);
    give_nics(s, 1, 1);
    s->node.nics[0].doubts = NUIOA_HINT_FAR;
    s->plan.usable.doubted = true;
    assert_string_equal(variable(s, 0, "UCX_NET_DEVICES"), "mlx5_1:1");
    assert_null(variable(s, 1, "UCX_NET_DEVICES")); /* it has no GPU, and so no NIC of its own */
    give_nics(s, 0, 1);
    assert_null(variable(s, 0, "UCX_NET_DEVICES"));
    give_nics(s, 1, 1);
    s->plan.usable.connected = false; /* all would be named */
    assert_null(variable(s, 0, "UCX_NET_DEVICES"));
}

/* --- export=auto ------------------------------------------------------------------------------ */

static const char *automatic(struct plan_case *s, unsigned local, const char *name)
{
    static char env[16384];
    nuioa_options_finish(&s->options);
    assert_true(nuioa_library_auto(&s->plan, &s->node, &s->options, local, env, sizeof(env)) > 0);
    return plan_case_variable(env, name);
}

static void why(struct plan_case *s, unsigned local, enum nuioa_auto_why wanted)
{
    assert_int_equal(nuioa_library_auto_why(&s->plan, &s->node, local), wanted);
    assert_int_equal(!*nuioa_auto_why_text(wanted), wanted == NUIOA_AUTO_SET);
    if (wanted != NUIOA_AUTO_SET)
        assert_null(automatic(s, local, "UCX_NET_DEVICES"));
}

/* Four NICs beside one NUMA node, and as many tasks. */
static struct plan_case *four_nics(unsigned tasks)
{
    struct plan_case *s = plan_case_of(
        "plain=1x8 nic=0 nic=0 nic=0 nic=0 gpu=0 gpu=0 ranks=%ux1 --export=auto", tasks);
    plan_case_make(s);
    return s;
}

/* Ranks without GPUs are told as many NICs as UCX uses by itself, each other ones. */
TEST(test_auto_ranks)
{
    static const char *const pairs[] = { "mlx5_0:1,mlx5_1:1", "mlx5_1:1,mlx5_2:1",
                                         "mlx5_2:1,mlx5_3:1", "mlx5_3:1,mlx5_0:1" };
    struct plan_case *s = four_nics(4);
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(automatic(s, i, "UCX_NET_DEVICES"),
                            pairs[s->plan.assignments[i].nics[0]]);
        assert_null(automatic(s, i, "UCX_MAX_RNDV_RAILS"));
        why(s, i, NUIOA_AUTO_SET);
    }
    plan_case_option(s, "export", "auto,ucx"); /* the word counts */
    assert_null(automatic(s, 0, "UCX_NET_DEVICES"));
    plan_case_option(s, "export", "env");
    assert_null(automatic(s, 0, "UCX_NET_DEVICES"));

    s = four_nics(3);
    why(s, 0, NUIOA_AUTO_FEW);
    s = four_nics(1);
    why(s, 0, NUIOA_AUTO_ALONE);

    /* One rank of eight that communicates has both NICs of the node, as without nuioa. */
    s = plan_case_of("quad ranks=8x2 --export=auto");
    plan_case_make(s);
    for (unsigned i = 0; i < 8; i++)
        why(s, i, NUIOA_AUTO_ALL);
}

/* The farther of two NICs is not taken in place of the nearer one. */
TEST(test_auto_nearest)
{
    struct plan_case *s = plan_case_of("plain=2x2 nic=0 nic=1 nic=0 nic=1 ranks=4x1 --export=auto");
    plan_case_make(s);
    for (unsigned i = 0; i < 4; i++) {
        const char *list = automatic(s, i, "UCX_NET_DEVICES");
        bool second = hwloc_bitmap_isset(s->plan.assignments[i].numas, 1);
        assert_non_null(list);
        assert_non_null(strstr(list, second ? "mlx5_1:1" : "mlx5_0:1"));
        assert_non_null(strstr(list, second ? "mlx5_3:1" : "mlx5_2:1"));
    }
}

/* A rank with GPUs is told their NICs and no others. */
TEST(test_auto_gpus)
{
    struct plan_case *s = four_nics(2);
    why(s, 0, NUIOA_AUTO_FEW);
    give_gpus(s, 1, NUIOA_GPU_NVIDIA);
    give_nics(s, 1, 1);
    assert_string_equal(automatic(s, 0, "UCX_NET_DEVICES"), "mlx5_1:1");
    give_nics(s, 1, 2);
    assert_string_equal(automatic(s, 0, "UCX_NET_DEVICES"), "mlx5_1:1,mlx5_0:1");
    give_nics(s, 1, 1);
    s->node.nics[0].doubts = NUIOA_HINT_FAR;
    s->plan.usable.doubted = true;
    assert_string_equal(automatic(s, 0, "UCX_NET_DEVICES"), "mlx5_1:1");
    give_nics(s, 0, 1);
    why(s, 0, NUIOA_AUTO_DOUBTED);
    s->node.nics[0].doubts = 0;
    why(s, 0, NUIOA_AUTO_SET);
    s->plan.usable.guessed = true;
    why(s, 0, NUIOA_AUTO_DOUBTED);
    s->plan.usable.guessed = s->plan.usable.connected = false;
    why(s, 0, NUIOA_AUTO_UNCONNECTED);
    s->plan.usable.connected = true;
    s->plan.usable.count = 1;
    why(s, 0, NUIOA_AUTO_ONE_PORT);
    s->plan.usable.count = 4;
    s->node.nics[0].kind = NUIOA_NIC_ETHERNET;
    why(s, 0, NUIOA_AUTO_KIND);
    s->plan.assignments[1].seen = nuioa_arena_take(&s->plan.arena, 2, sizeof(uint32_t));
    s->plan.assignments[1].seen_count = 2;
    s->plan.assignments[1].gpus_known = false;
    why(s, 1, NUIOA_AUTO_GPUS);
}

/* Cray's MPICH: a policy, only for ranks with GPUs. */
TEST(test_auto_mpich)
{
    struct plan_case *s = exporting("auto");
    set_kind(s, NUIOA_NIC_SLINGSHOT, "hsn");
    s->node.nics[0].port = s->node.nics[1].port = 0;
    why(s, 0, NUIOA_AUTO_KIND);
    give_gpus(s, 1, NUIOA_GPU_AMD);
    assert_string_equal(automatic(s, 0, "MPICH_OFI_NIC_POLICY"), "GPU");
    assert_null(automatic(s, 0, "UCX_NET_DEVICES"));
    plan_case_option(s, "export", "auto,mpich");
    assert_null(automatic(s, 0, "MPICH_OFI_NIC_POLICY"));
}
