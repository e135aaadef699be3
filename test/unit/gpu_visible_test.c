/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/gpu_visible.h"
#include "unit.h"

#define U0 "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
#define U1 "GPU-8932aaaa-d72c-4106-c12f-20bd9faed9f6"
#define U2 "GPU-11111111-d72c-4106-c12f-20bd9faed9f6"
#define U3 "GPU-22222222-d72c-4106-c12f-20bd9faed9f6"
#define AMD_0 "GPU-0f6cd6d5a4f3c9d1"
#define AMD_1 "GPU-0f6cffffa4f3c9d1"

/* --- machines --------------------------------------------------------------------------------- */

static struct nuioa_gpu gpus[6];
static struct nuioa_gpu_device devices[6];
static struct nuioa_node node = { .gpus = gpus };

static void add(enum nuioa_gpu_vendor vendor, uint32_t model, const char *uuid)
{
    gpus[node.gpu_count] = (struct nuioa_gpu){ .vendor = vendor, .model = model };
    devices[node.gpu_count] = (struct nuioa_gpu_device){ .file = "" };
    nuioa_copy(devices[node.gpu_count].uuid, sizeof(devices->uuid), uuid);
    node.gpu_count++;
}

static int four_nvidia(void **state)
{
    (void)state;
    static const char *const uuids[] = { U0, U1, U2, U3 };
    node.gpu_count = 0;
    for (unsigned i = 0; i < 4; i++)
        add(NUIOA_GPU_NVIDIA, 0x10de2330, uuids[i]);
    return 0;
}

static int two_amd(void **state)
{
    (void)state;
    node.gpu_count = 0;
    add(NUIOA_GPU_AMD, 0x100274a1, AMD_0);
    add(NUIOA_GPU_AMD, 0x100274a1, AMD_1);
    return 0;
}

static int two_intel(void **state)
{
    (void)state;
    node.gpu_count = 0;
    add(NUIOA_GPU_INTEL, 0x80860bd5, "");
    add(NUIOA_GPU_INTEL, 0x80860bd5, "");
    return 0;
}

/* Asks for the GPUs of a process with these variables, which may open those of the list `openable`;
 * NULL: not known. Returns a list such as "0,2"; "" for none; "?" if they are unknown. */
static const char *ask(const char *openable, const char *const *environment)
{
    static char text[64];
    hwloc_bitmap_t may = hwloc_bitmap_alloc(), found = hwloc_bitmap_alloc();
    if (openable && *openable)
        assert_int_equal(hwloc_bitmap_list_sscanf(may, openable), 0);
    hwloc_bitmap_fill(found);
    if (nuioa_gpus_visible(&node, devices, (char *const *)(uintptr_t)environment,
                           openable ? may : NULL, found)) {
        hwloc_bitmap_list_snprintf(text, sizeof(text), found);
    } else {
        assert_true(hwloc_bitmap_iszero(found));
        strcpy(text, "?");
    }
    hwloc_bitmap_free(may);
    hwloc_bitmap_free(found);
    return text;
}

#define ASK(openable, ...) \
    ask(openable, (const char *const[]){ "HOME=/", "SLURM_STEP_GPUS=0", __VA_ARGS__, NULL })
#define CUDA(list) ASK("0-3", "CUDA_VISIBLE_DEVICES=" list)

/* --- NVIDIA ----------------------------------------------------------------------------------- */

TEST_WITHIN(test_cuda_numbers, four_nvidia, NULL)
{
    assert_string_equal(CUDA("2"), "2");
    assert_string_equal(CUDA("3,1"), "1,3");
    assert_string_equal(CUDA("0,1,2,3"), "0-3");
    assert_string_equal(CUDA(""), "");
    /* The list ends at the first entry that is no GPU. */
    assert_string_equal(CUDA("0,2,-1,1"), "0,2");
    assert_string_equal(CUDA("NoDevFiles"), "");
    assert_string_equal(CUDA("-1"), "");
    /* No one says what these mean. */
    assert_string_equal(CUDA("0-2"), "?");
    assert_string_equal(CUDA("1,1"), "?");
    assert_string_equal(CUDA(" 1"), "?");
    assert_string_equal(CUDA("0,,1"), "?");
    assert_string_equal(CUDA("0x1"), "?");
    assert_string_equal(CUDA("1.0"), "?");
    assert_string_equal(CUDA("99999999999999999999"), "?");
    /* More numbers than GPUs: they count something else. */
    assert_string_equal(CUDA("4"), "?");
    assert_string_equal(CUDA("1,4,2"), "?");
    assert_string_equal(CUDA("0,1,2,3,4,5,6,7"), "?");
    /* A vendor that is not there needs no variable, and its variable says nothing. */
    assert_string_equal(ASK("0-3", "CUDA_VISIBLE_DEVICES=1", "ROCR_VISIBLE_DEVICES=2"), "1");
}

/* With a device cgroup, numbers count within what it allows. */
TEST_WITHIN(test_cuda_in_cgroup, four_nvidia, NULL)
{
    assert_string_equal(ASK("2-3", "CUDA_VISIBLE_DEVICES=0"), "2");
    assert_string_equal(ASK("1,3", "CUDA_VISIBLE_DEVICES=1,0"), "1,3");
    assert_string_equal(ASK("1,3", "CUDA_VISIBLE_DEVICES=2"), "?");
    assert_string_equal(ASK("3", "CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6"), "3");
    assert_string_equal(ASK("3", "CUDA_VISIBLE_DEVICES=0"), "3");
    assert_string_equal(ASK("", "CUDA_VISIBLE_DEVICES=0"), "");
    assert_string_equal(ASK("2-3", "CUDA_VISIBLE_DEVICES=" U0), "");
    assert_string_equal(ASK(NULL, "CUDA_VISIBLE_DEVICES=0"), "?");
    assert_string_equal(ASK(NULL, "CUDA_VISIBLE_DEVICES=" U2), "2");
    assert_string_equal(ASK(NULL, "CUDA_VISIBLE_DEVICES=GPU-3"), "?");
}

TEST_WITHIN(test_cuda_uuids, four_nvidia, NULL)
{
    assert_string_equal(CUDA(U1), "1");
    assert_string_equal(CUDA(U3 "," U0), "0,3");
    assert_string_equal(CUDA("GPU-8932f"), "0");
    assert_string_equal(CUDA("gpu-8932F"), "0");
    assert_string_equal(CUDA("GPU-8932"), "?");
    assert_string_equal(CUDA("GPU-"), "?");
    assert_string_equal(CUDA("GPU-9"), "");
    assert_string_equal(CUDA(U2 ",GPU-9," U0), "2");
    assert_string_equal(CUDA(U2 ",1"), "1-2");
    assert_string_equal(CUDA(U2 "0"), "");
    assert_string_equal(
        CUDA("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6-20bd9faed9f6-20bd9faed9f6-20bd9faed9f6-20b"
             "d9faed9f6"),
        "?");
    /* A GPU whose UUID is not known yet may be the one. */
    devices[3].uuid[0] = '\0';
    assert_string_equal(CUDA("GPU-1111"), "?");
    assert_string_equal(CUDA(U3), "?");
    assert_string_equal(CUDA(U2), "2");
    assert_string_equal(CUDA("3"), "3");
}

TEST_WITHIN(test_mig, four_nvidia, NULL)
{
    assert_string_equal(CUDA("MIG-" U1 "/1/0"), "1");
    assert_string_equal(CUDA("MIG-" U1 "/1/0,MIG-" U1 "/2/0"), "1");
    assert_string_equal(CUDA("MIG-8932f937-d72c-4106-c12f-20bd9faed9f6"), "?");
    assert_string_equal(CUDA("MIG-" U1 "/1/0," U2), "1-2");
    assert_string_equal(CUDA("MIG-GPU-8932a/1/0"), "1");
    assert_string_equal(CUDA("MIG-GPU-8932/1/0"), "?"); /* two GPUs begin so */
    node.gpu_count = 1;
    assert_string_equal(ASK("0", "CUDA_VISIBLE_DEVICES=MIG-8932f937-d72c-4106-c12f-20bd9faed9f6,"
                                 "MIG-11111111-d72c-4106-c12f-20bd9faed9f6"),
                        "0");
    assert_string_equal(ASK(NULL, "CUDA_VISIBLE_DEVICES=MIG-8932f937-d72c-4106-c12f-20bd9faed9f6"),
                        "?");
    four_nvidia(state);
    /* The only GPU that can be opened is the one of the instance. */
    assert_string_equal(ASK("2", "CUDA_VISIBLE_DEVICES=MIG-8932f937-d72c-4106-c12f-20bd9faed9f6"),
                        "2");
}

/* With MIG on, numbers and the UUIDs of whole GPUs mean instances. */
TEST_WITHIN(test_divided, four_nvidia, NULL)
{
    devices[1].divided = true;
    assert_string_equal(CUDA("0"), "?");
    assert_string_equal(CUDA("0,1,2,3"), "?");
    assert_string_equal(CUDA(U1), "?");
    assert_string_equal(CUDA(U0), "0");
    assert_string_equal(CUDA(U0 "," U1), "?");
    assert_string_equal(CUDA("MIG-" U1 "/1/0"), "1");
    assert_string_equal(CUDA("MIG-8932f937-d72c-4106-c12f-20bd9faed9f6"), "?");
    assert_string_equal(CUDA(""), "");
    assert_string_equal(ASK("0,2-3", "CUDA_VISIBLE_DEVICES=1"), "2");
    assert_string_equal(ASK("1", "CUDA_VISIBLE_DEVICES=3"), "1");
    node.gpu_count = 0;
    add(NUIOA_GPU_AMD, 0x100274a1, AMD_0);
    add(NUIOA_GPU_AMD, 0x100274a1, AMD_1);
    devices[0].divided = true; /* in eight partitions: 0 and 1 are both of it */
    assert_string_equal(ASK("0-1", "ROCR_VISIBLE_DEVICES=0,1"), "?");
    assert_string_equal(ASK("0-1", "ROCR_VISIBLE_DEVICES=" AMD_1), "1");
}

/* A display adapter of the vendor is counted, too, and is not in sight. */
TEST_WITHIN(test_display_adapter, four_nvidia, NULL)
{
    for (unsigned i = 0; i < 4; i++)
        gpus[i].model = 0;
    assert_string_equal(CUDA("0"), "?");
    assert_string_equal(CUDA("0,1,2,3"), "?");
    assert_string_equal(ASK("0-3", "CUDA_VISIBLE_DEVICES=3", "CUDA_DEVICE_ORDER=PCI_BUS_ID"), "?");
    assert_string_equal(CUDA(U3), "3");
    assert_string_equal(CUDA("GPU-9"), "?");
}

/* By default CUDA puts the fastest GPU first, and only CUDA knows which that is. */
TEST_WITHIN(test_cuda_models, four_nvidia, NULL)
{
    gpus[2].model = 0x10de20b0;
    assert_string_equal(CUDA("0"), "?");
    assert_string_equal(CUDA("3,0,1"), "?");
    assert_string_equal(CUDA("3,0,1,2"), "0-3");
    assert_string_equal(CUDA("3,0,1,2,-1"), "0-3");
    assert_string_equal(CUDA("3,0,1," U2), "?");
    assert_string_equal(CUDA("4"), "?");
    assert_string_equal(CUDA(U2), "2");
    assert_string_equal(ASK("0-3", "CUDA_VISIBLE_DEVICES=2", "CUDA_DEVICE_ORDER=PCI_BUS_ID"), "2");
    assert_string_equal(ASK("0-3", "CUDA_VISIBLE_DEVICES=2", "CUDA_DEVICE_ORDER=FASTEST_FIRST"),
                        "?");
    /* Those that can be opened are of one model. */
    assert_string_equal(ASK("1,3", "CUDA_VISIBLE_DEVICES=1"), "3");
    gpus[1].model = gpus[3].model = 0;
    assert_string_equal(ASK("1,3", "CUDA_VISIBLE_DEVICES=1"), "?");
}

TEST_WITHIN(test_unset, four_nvidia, NULL)
{
    assert_string_equal(ASK("0-3", "CUDA_DEVICE_ORDER=PCI_BUS_ID"), "?");
    assert_string_equal(ASK("1-2", "ROCR_VISIBLE_DEVICES=0"), "?");
    assert_string_equal(ASK(NULL, "ROCR_VISIBLE_DEVICES=0"), "?");
    assert_string_equal(ASK("1", "ROCR_VISIBLE_DEVICES=0"), "1");
    assert_string_equal(ask("", NULL), "");
    assert_string_equal(ask("0-3", NULL), "?");
    /* It may be the GPU of somebody else. */
    node.gpu_count = 1;
    assert_string_equal(ask("0", NULL), "?");
    node.gpu_count = 0;
    assert_string_equal(ask(NULL, NULL), "");
}

/* --- the others ------------------------------------------------------------------------------- */

#define ROCR(list, ...) ASK("0-1", "ROCR_VISIBLE_DEVICES=" list, __VA_ARGS__)

TEST_WITHIN(test_amd, two_amd, NULL)
{
    assert_string_equal(ROCR(AMD_1, "X=1"), "1");
    assert_string_equal(ROCR("GPU-0F6Cf", "X=1"), "1");
    assert_string_equal(ROCR("GPU-0f6c", "X=1"), "?");
    assert_string_equal(ROCR("0", "X=1"), "?");
    assert_string_equal(ROCR("1,0", "X=1"), "0-1");
    assert_string_equal(ROCR("", "X=1"), "");
    assert_string_equal(ASK("1", "ROCR_VISIBLE_DEVICES=0"), "1");
    assert_string_equal(ASK("0-1", "HIP_VISIBLE_DEVICES=0"), "?");
    assert_string_equal(ASK("0-1", "HIP_VISIBLE_DEVICES=0,1"), "0-1");
    assert_string_equal(ASK("0-1", "HIP_VISIBLE_DEVICES="), "?");
}

/* The numbers of HIP count in what ROCR_VISIBLE_DEVICES has left, in its order. */
TEST_WITHIN(test_hip, two_amd, NULL)
{
    assert_string_equal(ROCR(AMD_1 "," AMD_0, "HIP_VISIBLE_DEVICES=0"), "1");
    assert_string_equal(ROCR(AMD_1 "," AMD_0, "HIP_VISIBLE_DEVICES=1"), "0");
    assert_string_equal(ROCR(AMD_1 "," AMD_0, "CUDA_VISIBLE_DEVICES=1"), "0");
    assert_string_equal(ROCR(AMD_1, "HIP_VISIBLE_DEVICES=0"), "1");
    assert_string_equal(ROCR(AMD_1, "HIP_VISIBLE_DEVICES=1"), "?");
    assert_string_equal(ROCR("0,1", "HIP_VISIBLE_DEVICES=0"), "?");
    assert_string_equal(ROCR("0,1", "HIP_VISIBLE_DEVICES=1,0"), "0-1");
    assert_string_equal(ROCR("", "HIP_VISIBLE_DEVICES=1,0"), "");
    assert_string_equal(ROCR(AMD_1, "HIP_VISIBLE_DEVICES=0", "GPU_DEVICE_ORDINAL=0"), "1");
    assert_string_equal(ROCR(AMD_1, "HIP_VISIBLE_DEVICES=0", "GPU_DEVICE_ORDINAL=1"), "?");
}

#define ZE(list, ...) ASK("0-1", "ZE_AFFINITY_MASK=" list, __VA_ARGS__)

TEST_WITHIN(test_intel, two_intel, NULL)
{
    static const char composite[] = "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE";
    static const char pci_order[] = "ZE_ENABLE_PCI_ID_DEVICE_ORDER=1";
    assert_string_equal(ZE("1", composite, pci_order), "1");
    assert_string_equal(ZE("1.0", composite, pci_order), "1");
    assert_string_equal(ZE("0.0,0.1", composite, pci_order), "0");
    assert_string_equal(ZE("0,1.1", composite, pci_order), "0-1");
    assert_string_equal(ZE("0,1", composite), "0-1");
    assert_string_equal(ZE("1", composite), "?");
    assert_string_equal(ZE("1", pci_order), "?");
    assert_string_equal(ZE("0,1", pci_order), "?");
    assert_string_equal(ZE("2", composite, pci_order), "?");
    assert_string_equal(ZE("1.x", composite, pci_order), "?");
    assert_string_equal(ZE("1.", composite, pci_order), "?");
    assert_string_equal(ZE("", composite, pci_order), "?");
    assert_string_equal(ASK("1", "ZE_AFFINITY_MASK=3"), "1");
}

/* Each vendor must be known. */
TEST_WITHIN(test_mixed, four_nvidia, NULL)
{
    node.gpu_count = 0;
    add(NUIOA_GPU_NVIDIA, 0x10de2330, U0);
    add(NUIOA_GPU_AMD, 0x100274a1, AMD_0);
    add(NUIOA_GPU_NVIDIA, 0x10de2330, U1);
    assert_string_equal(ASK("0-2", "CUDA_VISIBLE_DEVICES=1", "ROCR_VISIBLE_DEVICES="), "2");
    assert_string_equal(ASK("0-2", "CUDA_VISIBLE_DEVICES=" U0, "ROCR_VISIBLE_DEVICES=" AMD_0), "?");
    assert_string_equal(ASK("0-2", "CUDA_VISIBLE_DEVICES=1"), "?");
    assert_string_equal(ASK("0,2", "CUDA_VISIBLE_DEVICES=1"), "2");
    add(NUIOA_GPU_OTHER, 0x1af41050, "");
    assert_string_equal(ASK("0,2-3", "CUDA_VISIBLE_DEVICES=1"), "?");
    add(NUIOA_GPU_OTHER, 0x1af41050, "");
    assert_string_equal(ASK("0,2,4", "CUDA_VISIBLE_DEVICES=1"), "2,4");
}

/* --- the order of numbers --------------------------------------------------------------------- */

/* As ask(), for nuioa_gpus_in_order(): a list such as "2,0"; "" if there is none. */
static const char *ask_order(const char *openable, const char *const *environment)
{
    static char text[64];
    uint32_t order[6];
    size_t used = 0;
    hwloc_bitmap_t may = hwloc_bitmap_alloc();
    if (openable && *openable)
        assert_int_equal(hwloc_bitmap_list_sscanf(may, openable), 0);
    uint32_t count = nuioa_gpus_in_order(&node, devices, (char *const *)(uintptr_t)environment,
                                         openable ? may : NULL, order);
    assert_true(count <= node.gpu_count);
    *text = '\0';
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? "," : "", order[i]);
    hwloc_bitmap_free(may);
    return text;
}

#define ORDER(openable, ...) \
    ask_order(openable, (const char *const[]){ "HOME=/", __VA_ARGS__, NULL })

TEST(test_order_of_one_model)
{
    four_nvidia(state);
    assert_string_equal(ORDER("0-3", "A="), "0,1,2,3");
    assert_string_equal(ORDER("1,3", "A="), "1,3");
    assert_string_equal(ORDER("0-3", "CUDA_VISIBLE_DEVICES=3,1,0"), "3,1,0");
    assert_string_equal(ORDER("1-3", "CUDA_VISIBLE_DEVICES=2,0"), "3,1");
    assert_string_equal(ORDER("0-3", "CUDA_VISIBLE_DEVICES=" U2 "," U0), "2,0");
    assert_string_equal(ORDER("0-3", "CUDA_VISIBLE_DEVICES="), "");
    assert_string_equal(ORDER("0-3", "CUDA_VISIBLE_DEVICES=1,1"), "");
    assert_string_equal(ORDER(NULL, "A="), ""); /* nobody knows what may be opened */
    assert_string_equal(ORDER("", "A="), "");
    devices[2].divided = true;
    assert_string_equal(ORDER("0-3", "A="), "");
    assert_string_equal(ORDER("0-3", "CUDA_VISIBLE_DEVICES=1,0"), "");
    assert_string_equal(ORDER("0-1", "A="), "0,1");
    two_amd(state);
    devices[0].divided = true;
    assert_string_equal(ORDER("0-1", "A="), "");
    two_amd(state);
    assert_string_equal(ORDER("0-1", "A="), "0,1");
    assert_string_equal(ORDER("0-1", "ROCR_VISIBLE_DEVICES=1,0"), "1,0");
    assert_string_equal(ORDER("0-1", "ROCR_VISIBLE_DEVICES=1,0", "HIP_VISIBLE_DEVICES=1"), "0");
    assert_string_equal(ORDER("0-1", "HIP_VISIBLE_DEVICES=1,0"), "1,0");
    two_intel(state);
    assert_string_equal(ORDER("0-1", "A="), ""); /* tiles */
    assert_string_equal(ORDER("0-1", "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"), "0,1");
    assert_string_equal(ORDER("0-1", "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "ZE_AFFINITY_MASK=1,0"),
                        "1,0");
    assert_string_equal(
        ORDER("0-1", "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "ZE_AFFINITY_MASK=1.0,1.1,0"), "");
}

/* The driver's nodes give AMD's numbers an order, which need not be that of PCI. */
TEST_WITHIN(test_kfd, two_amd, NULL)
{
    add(NUIOA_GPU_AMD, 0x10027408, "");
    for (uint32_t i = 0; i < 3; i++)
        devices[i].kfd = 4 - i;
    assert_string_equal(ASK("0-2", "ROCR_VISIBLE_DEVICES=0"), "2");
    assert_string_equal(ASK("0-2", "ROCR_VISIBLE_DEVICES=2,0"), "0,2");
    assert_string_equal(ASK("0-2", "ROCR_VISIBLE_DEVICES=2,0", "HIP_VISIBLE_DEVICES=0"), "0");
    assert_string_equal(ASK("0-2", "ROCR_VISIBLE_DEVICES=" AMD_1 ",0"), "1-2");
    assert_string_equal(ASK("0-2", "GPU_DEVICE_ORDINAL=1"), "1");
    /* Nodes that are denied are not counted. */
    assert_string_equal(ASK("0-1", "ROCR_VISIBLE_DEVICES=0"), "1");
    devices[2].kfd = 0;
    assert_string_equal(ASK("0-1", "ROCR_VISIBLE_DEVICES=0"), "1");
    assert_string_equal(ASK("0-2", "ROCR_VISIBLE_DEVICES=0"), "?");
    assert_string_equal(ASK(NULL, "ROCR_VISIBLE_DEVICES=0"), "?");
    devices[2].kfd = 1;
    assert_string_equal(ASK("0-2", "A="), "?"); /* nobody says which of them it takes */
    assert_string_equal(ORDER("0-2", "A="), "2,1,0");
    assert_string_equal(ORDER("0-2", "HIP_VISIBLE_DEVICES=1,2"), "1,0");
}

/* CUDA puts the fastest model first, unless it is told otherwise. */
TEST(test_order_of_several_models)
{
    four_nvidia(state);
    gpus[2].model = 0x10de2331;
    assert_string_equal(ORDER("0-3", "A="), "");
    assert_string_equal(ORDER("0-3", "CUDA_VISIBLE_DEVICES=3,1,0,2"), "");
    assert_string_equal(ORDER("0-3", "CUDA_DEVICE_ORDER=PCI_BUS_ID"), "0,1,2,3");
    assert_string_equal(ORDER("0-3", "CUDA_VISIBLE_DEVICES=" U2 "," U0), "2,0");
    assert_string_equal(ORDER("0-1", "A="), "0,1");
    add(NUIOA_GPU_AMD, 0x100274a1, AMD_0); /* a program may use either vendor */
    assert_string_equal(ORDER("0-4", "CUDA_DEVICE_ORDER=PCI_BUS_ID"), "");
    assert_string_equal(ORDER("0-4", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "ROCR_VISIBLE_DEVICES="),
                        "0,1,2,3");
    assert_string_equal(ORDER("4", "A="), "4");
}

TEST_WITHIN(test_openable, four_nvidia, NULL)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    node.gpu_count = 2;
    strcpy(devices[0].file, "/dev/null");
    strcpy(devices[1].file, "/dev/zero");
    assert_true(nuioa_gpus_openable(&node, devices, set));
    assert_int_equal(hwloc_bitmap_weight(set), 2);
    devices[1].file[0] = '\0';
    assert_false(nuioa_gpus_openable(&node, devices, set));
    assert_true(hwloc_bitmap_iszero(set));
    strcpy(devices[1].file, "/dev/nowhere");
    assert_false(nuioa_gpus_openable(&node, devices, set));
    assert_true(hwloc_bitmap_iszero(set));
    node.gpu_count = 0;
    assert_true(nuioa_gpus_openable(&node, devices, set));
    assert_true(hwloc_bitmap_iszero(set));
    hwloc_bitmap_free(set);
}
