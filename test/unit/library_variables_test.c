/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "machine.h"
#include "output/library_variables.h"
#include "plan_case.h"

/* The variables of other programs that choose NICs. */

static const char *find(const char *env, const char *name)
{
    size_t length = strlen(name);
    for (; *env; env += strlen(env) + 1)
        if (!strncmp(env, name, length) && env[length] == '=')
            return env + length + 1;
    return NULL;
}

static const char *variable(struct plan_case *s, unsigned local, const char *name)
{
    static char env[16384];
    nuioa_options_finish(&s->options);
    assert_true(nuioa_library_variables(&s->plan, &s->node, &s->options, local, env, sizeof(env)) >
                0);
    return find(env, name);
}

/* Each rank has its own NIC. For NCCL all ranks get the same value: no NIC, or all chosen ones. */
static void test_nccl(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    plan_case_on(s, 4, 4);
    plan_case_option(s, "export", "ucx,nccl");
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
    plan_case_free(s);
}

/* Gives rank 0 these NICs of the machine "quad", which has two. */
static void give_nics(struct plan_case *s, uint32_t first, uint32_t count)
{
    struct nuioa_assignment *assignment = &s->plan.assignments[0];
    free(assignment->nics);
    assignment->nics = calloc(2, sizeof(*assignment->nics));
    assert_non_null(assignment->nics);
    assignment->nics[0] = first;
    assignment->nics[1] = !first;
    assignment->nic = (int32_t)first;
    assignment->nic_count = count;
}

/* A rank gets its own NICs only if they reach those of all others. */
static void test_connected(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    plan_case_on(s, 4, 4);
    plan_case_option(s, "export", "ucx,ofi");
    plan_case_make(s);
    assert_true(s->plan.usable.connected);
    give_nics(s, 1, 1);
    assert_string_equal(variable(s, 0, "UCX_NET_DEVICES"), "mlx5_1:1");
    assert_string_equal(variable(s, 0, "FI_VERBS_DEVICE_NAME"), "mlx5_1");
    give_nics(s, 1, 2);
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
    plan_case_free(s);
}

/* A message goes over as many NICs as the rank has, also where UCX is told those of all ranks. */
static void test_rails_of_ucx(void **state)
{
    (void)state;
    static const struct {
        unsigned tasks;
        bool connected;
        const char *rails;
    } cases[] = { { 1, true, "4" }, { 1, false, "4" }, { 2, false, NULL }, { 4, false, NULL } };
    for (unsigned t = 0; t < 4; t++) {
        struct plan_case *s = plan_case_new();
        machine_build(&s->node, &(struct shape){ 1, 4, 1, 1, NULL });
        for (unsigned i = 0; i < 4; i++) {
            struct nuioa_nic *nic = machine_nic(&s->node, "mlx5_0", 0);
            snprintf(nic->name, sizeof(nic->name), "mlx5_%u", i);
            if (!cases[t].connected)
                nic->fabric[0] = '\0'; /* the subnet is unknown */
        }
        plan_case_on(s, cases[t].tasks, 1);
        plan_case_option(s, "export", "ucx");
        plan_case_make(s);
        assert_string_equal(variable(s, 0, "UCX_NET_DEVICES"),
                            "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1");
        if (cases[t].rails)
            assert_string_equal(variable(s, 0, "UCX_MAX_RNDV_RAILS"), cases[t].rails);
        else
            assert_null(variable(s, 0, "UCX_MAX_RNDV_RAILS"));
        plan_case_free(s);
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
static void test_kinds(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    plan_case_on(s, 4, 4);
    plan_case_option(s, "export", "ucx,ofi,psm");
    set_kind(s, NUIOA_NIC_EFA, "rdmap");
    give_nics(s, 0, 2);
    assert_string_equal(variable(s, 0, "FI_EFA_IFACE"), "rdmap0,rdmap1");
    assert_null(variable(s, 0, "UCX_NET_DEVICES")); /* UCX before 1.18 would find no device */
    set_kind(s, NUIOA_NIC_OMNIPATH, "hfi1_");
    assert_null(variable(s, 0, "HFI_UNIT")); /* two planes are possible */
    plan_case_option(s, "rails", "connected");
    set_kind(s, NUIOA_NIC_OMNIPATH, "hfi1_");
    assert_string_equal(variable(s, 3, "HFI_UNIT"), "1");
    assert_string_equal(variable(s, 3, "FI_OPX_HFI_SELECT"), "1");
    give_nics(s, 0, 2);
    assert_null(variable(s, 0, "HFI_UNIT"));
    plan_case_free(s);
}

/* The site's NICs reach NCCL also where a task has more GPUs than there are NICs. */
static void test_nccl_gpus(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    plan_case_on(s, 4, 4);
    plan_case_option(s, "export", "nccl");
    plan_case_option(s, "nic", "mlx5_0,mlx5_1");
    plan_case_make(s);
    s->plan.assignments[2].gpu_count = 3;
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(variable(s, i, "NCCL_IB_HCA"), "=mlx5_0:1,mlx5_1:1");
    plan_case_free(s);
}

/* libfabric takes all devices whose names begin with the value, in upper or lower case. */
static void test_prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *other;
        bool set;
    } cases[] = { { "mlx5_10", false },
                  { "MLX5_1x", false },
                  { "mlx5_2", true },
                  { "mlx5_", true },
                  { "1mlx5_1", true } };
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    plan_case_on(s, 4, 4);
    plan_case_option(s, "export", "ofi");
    for (unsigned t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        snprintf(s->node.nics[0].name, sizeof(s->node.nics[0].name), "%s", cases[t].other);
        plan_case_make(s);
        give_nics(s, 1, 1);
        if (cases[t].set)
            assert_string_equal(variable(s, 0, "FI_VERBS_DEVICE_NAME"), "mlx5_1");
        else
            assert_null(variable(s, 0, "FI_VERBS_DEVICE_NAME"));
    }
    plan_case_free(s);
}

/* Gives rank 0 the first GPUs of the machine, of this vendor. */
static void give_gpus(struct plan_case *s, uint32_t count, enum nuioa_gpu_vendor vendor)
{
    struct nuioa_assignment *assignment = &s->plan.assignments[0];
    free(assignment->gpus);
    assignment->gpus = calloc(2, sizeof(*assignment->gpus));
    assert_non_null(assignment->gpus);
    assignment->gpus[1] = 1;
    assignment->gpu_count = count;
    s->node.gpus[0].vendor = vendor;
}

/* What only ranks with GPUs are told, if they have one NIC. */
static void test_gpus(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    machine_gpu(&s->node, 0);
    machine_gpu(&s->node, 0);
    plan_case_on(s, 4, 4);
    plan_case_option(s, "export", "nvshmem,psm");
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
    plan_case_free(s);
}

/* libfabric finds the names of Slingshot's devices anywhere in the value. */
static void test_slingshot(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    machine_gpu(&s->node, 0);
    machine_gpu(&s->node, 0);
    plan_case_on(s, 4, 4);
    plan_case_option(s, "export", "ofi");
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
    plan_case_free(s);
}

/* Cray's MPICH takes a NIC by the CPUs, unless GPUs decide. */
static void test_mpich(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    machine_gpu(&s->node, 0);
    plan_case_on(s, 4, 4);
    plan_case_option(s, "export", "mpich");
    set_kind(s, NUIOA_NIC_SLINGSHOT, "hsn");
    assert_string_equal(variable(s, 0, "MPICH_OFI_NIC_POLICY"), "NUMA");
    s->plan.assignments[2].gpu_count = 1;
    for (unsigned i = 0; i < 4; i++)
        assert_null(variable(s, i, "MPICH_OFI_NIC_POLICY"));
    s->plan.assignments[2].gpu_count = 0;
    plan_case_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nccl),      cmocka_unit_test(test_connected),
        cmocka_unit_test(test_kinds),     cmocka_unit_test(test_rails_of_ucx),
        cmocka_unit_test(test_nccl_gpus), cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_gpus),      cmocka_unit_test(test_slingshot),
        cmocka_unit_test(test_mpich),
    };
    return cmocka_run_group_tests_name("library_variables", tests, NULL, NULL);
}
