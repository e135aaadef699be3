/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <unistd.h>

#include "dump.h"
#include "machine.h"
#include "topology/node.h"
#include "topology/node_load.h"
#include "unit.h"

static bool same_list(hwloc_const_bitmap_t bitmap, const char *list)
{
    char text[256];
    hwloc_bitmap_list_snprintf(text, sizeof(text), bitmap);
    if (strcmp(text, list))
        print_error("%s, expected %s\n", text, list);
    return !strcmp(text, list);
}

TEST(test_this_machine)
{
    struct nuioa_node node;
    struct nuioa_error err;
    char host[64];
    assert_int_equal(nuioa_node_load(&node, NULL, &err), 0);
    gethostname(host, sizeof(host));
    assert_string_equal(node.host, host);
    if (!getenv("HWLOC_XMLFILE"))
        assert_false(node.emulated);
    assert_int_equal(node.pu_count, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(node.core_count > 0 && node.core_count <= node.pu_count);
    assert_true(node.numa_count > 0 && node.distance.count == node.numa_count);
    cpu_set_t allowed;
    assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            assert_true(hwloc_bitmap_isset(node.allowed_cpus, cpu) &&
                        nuioa_node_pu(&node, cpu) >= 0);
    nuioa_node_free(&node);
    nuioa_node_free(&node); /* fine on an empty one */
}

/* State and rate are what sysfs says, and are read again. */
TEST(test_refresh)
{
    struct nuioa_node node;
    assert_int_equal(nuioa_node_load(&node, NULL, NULL), 0);
    for (uint32_t i = 0; i < node.nic_count; i++) {
        enum nuioa_nic_state was = node.nics[i].state;
        uint32_t rate_mbps = node.nics[i].rate_mbps;
        bool usable = node.nics[i].usable;
        node.nics[i].state = was == NUIOA_NIC_ACTIVE ? NUIOA_NIC_DOWN : NUIOA_NIC_ACTIVE;
        node.nics[i].rate_mbps = 12345;
        nuioa_node_refresh(&node);
        assert_int_equal(node.nics[i].state, was);
        assert_int_equal(node.nics[i].rate_mbps, rate_mbps);
        assert_int_equal(node.nics[i].usable, usable);
        /* a device that is gone is down */
        nuioa_copy(node.nics[i].name, sizeof(node.nics[i].name), "gone0");
        nuioa_node_refresh(&node);
        assert_int_equal(node.nics[i].state, NUIOA_NIC_DOWN);
    }
    if (!node.nic_count)
        print_message("# no NIC here\n");
    nuioa_node_free(&node);
}

TEST(test_refresh_leaves_emulated)
{
    struct nuioa_node *node = machine_load("infiniband", NULL);
    nuioa_node_refresh(node);
    assert_int_equal(node->nics[0].state, NUIOA_NIC_ACTIVE);
    assert_true(node->nics[0].usable);
}

/* The whole machine is described, the NIC's NUMA node with it; allowed_* says what may be used. */
TEST(test_restricted)
{
    struct nuioa_node *node = machine_load("restricted", NULL);
    assert_int_equal(node->numa_count, 4);
    assert_int_equal(node->distance.count, 4);
    assert_int_equal(node->pu_count, 16);
    assert_int_equal(hwloc_bitmap_weight(node->allowed_cpus), 10);
    assert_int_equal(hwloc_bitmap_weight(node->allowed_numas), 3);
    assert_int_equal(node->nic_count, 1);
    assert_false(hwloc_bitmap_intersects(node->nics[0].numas, node->allowed_numas));
    assert_non_null(node->nics[0].level);
}

TEST(test_processors)
{
    struct nuioa_node *node =
        machine_load("quad", NULL); /* 4 NUMA nodes, 2 hardware threads a core */
    assert_int_equal(node->core_count * 2, node->pu_count);
    for (uint32_t i = 0; i < node->pu_count; i++) {
        const struct nuioa_pu *pu = &node->pus[i];
        assert_int_equal(pu->core, i / 2);
        assert_int_equal(pu->l2, pu->core); /* none in the file */
        assert_int_equal(pu->l3, pu->package);
        assert_int_equal(pu->numa, pu->package);
        assert_int_equal(nuioa_node_pu(node, pu->os_index), i);
    }
    assert_int_equal(nuioa_node_pu(node, 4711), -1);
    assert_int_equal(nuioa_node_numa(node, 4711), -1);

    node = machine_load("slingshot", NULL); /* one package, 4 NUMA nodes of two L3 caches */
    assert_int_equal(node->package_count, 1);
    assert_int_equal(node->pus[node->pu_count - 1].l3, 7);
}

TEST(test_numas_of)
{
    struct nuioa_node *node =
        machine_load("gpu-memory", NULL); /* NUMA nodes 0 and 8, and memory of GPUs without CPUs */
    hwloc_bitmap_t numas = hwloc_bitmap_alloc();
    hwloc_bitmap_set(numas, 99);
    nuioa_node_numas_of(node, node->numas[1].cpus, numas);
    assert_true(same_list(numas, "8"));
    nuioa_node_numas_of(node, node->allowed_cpus, numas);
    assert_true(same_list(numas, "0,8"));
    /* memory that hangs off the machine is nobody's, and near no NIC */
    assert_true(hwloc_bitmap_iszero(node->numas[nuioa_node_numa(node, 252)].cpus));
    assert_true(same_list(node->nics[0].numas, "0"));
    hwloc_bitmap_free(numas);
}

/* Two kinds of memory serve the same cores: the ordinary one is the PU's own, and the other has no
 * PUs. */
TEST(test_two_memories)
{
    struct nuioa_node *node = machine_load("mcdram", NULL);
    for (uint32_t i = 0; i < node->pu_count; i++)
        assert_true(node->numas[node->pus[i].numa].os_index < node->numa_count / 2);
    for (uint32_t i = 0; i < node->numa_count; i++)
        assert_int_equal(hwloc_bitmap_iszero(node->numas[i].cpus),
                         node->numas[i].os_index >= node->numa_count / 2);
    assert_true(same_list(node->nics[0].numas, "0,4")); /* it is near both */
}

/* NUMA nodes as KVM makes them of wrong lists: hwloc says that all CPUs are local to both, the
 * kernel of which one each is. */
TEST(test_cut)
{
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    dump_make();
    dump_pci("0000:81:00.0", "0x020000 0x8086 0x1521");
    dump_net("0000:81:00.0", "eth0", "02:00:00:00:00:01", "up", "10000");
    dump_pci("0000:82:00.0", "0x030200 0x10de 0x2330");
    struct nuioa_source source = { dump_path, NULL };
    assert_int_equal(nuioa_node_load(&node, &source, &err), 0);
    assert_false(node.cut);
    assert_true(same_list(node.nics[0].numas, "1"));
    nuioa_node_free(&node);

    dump_file("sys/devices/system/node/node0/cpumap", "00000005");
    dump_file("sys/devices/system/node/node1/cpumap", "0000000a");
    assert_int_equal(nuioa_node_load(&node, &source, &err), 0);
    assert_true(node.cut);
    assert_true(same_list(node.numas[0].cpus, "0,2"));
    assert_true(same_list(node.numas[1].cpus, "1,3"));
    for (uint32_t i = 0; i < node.pu_count; i++)
        assert_int_equal(node.pus[i].numa, node.pus[i].os_index % 2);
    assert_int_equal(node.nic_count, 1);
    assert_null(node.nics[0].level);
    assert_int_equal(node.nics[0].locality, NUIOA_LOCALITY_UNKNOWN);
    assert_int_equal(node.gpu_count, 1);
    assert_true(hwloc_bitmap_iszero(node.gpus[0].numas));
    assert_int_equal(node.warnings.count, 1);
    nuioa_node_free(&node);
}

TEST(test_gpus)
{
    struct nuioa_node *node = machine_load("gpus", NULL);
    assert_int_equal(node->gpu_count, 4);
    for (uint32_t i = 1; i < node->gpu_count; i++)
        assert_true(strcmp(node->gpus[i - 1].pci, node->gpus[i].pci) < 0);
    assert_false(hwloc_bitmap_iszero(node->gpus[0].numas));
}

TEST(test_failures)
{
    static const char *const bad[] = { "/nonexistent.xml", "/etc/passwd", "/etc", "/dev/null" };
    for (unsigned i = 0; i < 4; i++) {
        struct nuioa_node node, empty;
        struct nuioa_error err = { "" };
        memset(&empty, 0, sizeof(empty));
        memset(&node, 0x5a, sizeof(node));
        const struct nuioa_source source = { .topology = bad[i] };
        assert_true(nuioa_node_load(&node, &source, &err) < 0);
        assert_non_null(strstr(err.text, bad[i]));
        assert_memory_equal(&node, &empty, sizeof(node));
    }
}

/* A dump is named to hwloc through the environment; nothing of that stays. */
TEST(test_dump_leaves_environment)
{
    dump_make();
    unsetenv("HWLOC_FSROOT");
    setenv("HWLOC_COMPONENTS", "-gl", 1);
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_true(node->emulated);
    assert_int_equal(node->pu_count, 4);
    assert_int_equal(node->numas[1].memory_bytes, 4194304ull << 10);
    assert_null(getenv("HWLOC_FSROOT"));
    assert_null(getenv("HWLOC_DUMPED_HWDATA_DIR"));
    assert_string_equal(getenv("HWLOC_COMPONENTS"), "-gl");
    unsetenv("HWLOC_COMPONENTS");
}
