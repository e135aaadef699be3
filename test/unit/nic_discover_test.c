/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>

#include "dump.h"
#include "file.h"
#include "machine.h"
#include "topology/node.h"
#include "topology/node_load.h"
#include "unit.h"
#include "util/sysfs.h"

#define FE80 "fe80:0000:0000:0000"
#define IPOIB "80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:01"
#define MAC "02:00:00:00:00:01"
#define MELLANOX_IB "0x020700 0x15b3 0x101b"
#define MELLANOX_ETH "0x020000 0x15b3 0x101d"
#define EDR "100 Gb/sec (4X EDR)"
#define INTEL_ETH "0x020000 0x8086 0x1521"
#define OMNIPATH "0x020800 0x8086 0x24f0"
#define CRAY_ETH "0x020000 0x17db 0x0501"

/* --- what a machine's files say --------------------------------------------------------------- */

static const struct nuioa_nic *find(const struct nuioa_node *node, const char *label)
{
    char text[48];
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (!strcmp(nuioa_nic_label(&node->nics[i], text, sizeof(text)), label))
            return &node->nics[i];
    print_error("no %s among %u NICs\n", label, node->nic_count);
    assert_true(false);
    return NULL;
}

TEST(test_infiniband)
{
    dump_make();
    dump_pci("0000:81:00.0", MELLANOX_IB);
    dump_verbs("0000:81:00.0", "mlx5_0", 1, "InfiniBand", "4: ACTIVE", "54.5 Gb/sec (4X FDR)",
               FE80);
    dump_net("0000:81:00.0", "ib0", IPOIB, "up", NULL);
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_int_equal(node->nic_count, 1);
    const struct nuioa_nic *nic = find(node, "mlx5_0:1");
    assert_string_equal(nic->netdev, "ib0");
    assert_string_equal(nic->pci, "0000:81:00.0");
    assert_string_equal(nic->fabric, FE80);
    assert_int_equal(nic->kind, NUIOA_NIC_INFINIBAND);
    assert_int_equal(nic->state, NUIOA_NIC_ACTIVE);
    assert_int_equal(nic->rate_mbps, 54500);
    assert_int_equal(nic->locality, NUIOA_LOCALITY_HWLOC);
    assert_true(hwloc_bitmap_isset(nic->numas, 1) && hwloc_bitmap_weight(nic->numas) == 1);
    assert_int_equal(hwloc_bitmap_first(nic->cpus), 2);
    assert_int_equal(nic->level[0], 1);
    assert_int_equal(nic->level[1], 0);
    assert_true(nic->usable && node->emulated);
}

/* Ports, link layers and netdevs of one function; the subnet manager has not come to port 2. */
TEST(test_two_ports)
{
    dump_make();
    dump_pci("0000:81:00.0", MELLANOX_IB);
    dump_verbs("0000:81:00.0", "mlx4_0", 1, "InfiniBand", "4: ACTIVE", "40 Gb/sec (4X QDR)", FE80);
    dump_verbs("0000:81:00.0", "mlx4_0", 2, "Ethernet", "2: INIT", "10 Gb/sec (1X QDR)", FE80);
    dump_net("0000:81:00.0", "eth5", MAC, "down", NULL);
    dump_file("sys/devices/pci/0000:81:00.0/net/eth5/dev_port", "1");
    dump_net("0000:81:00.0", "ib0", IPOIB, "up", NULL);
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_int_equal(node->nic_count, 2);
    const struct nuioa_nic *one = find(node, "mlx4_0:1"), *two = find(node, "mlx4_0:2");
    assert_string_equal(one->netdev, "ib0");
    assert_string_equal(two->netdev, "eth5");
    assert_int_equal(one->card, two->card);
    assert_int_equal(one->kind, NUIOA_NIC_INFINIBAND);
    assert_int_equal(two->kind, NUIOA_NIC_ROCE);
    assert_int_equal(two->state, NUIOA_NIC_DOWN);
    assert_string_equal(two->fabric, "");
}

/* The halves of a Socket Direct card have one system image GUID. So have the devices of a card with
 * two ports, all Omni-Path cards of a node, and cards that say nothing. */
TEST(test_socket_direct)
{
    static const struct {
        const char *ids, *name, *first, *second;
        bool two_ports, same;
    } cases[] = {
        { MELLANOX_IB, "mlx5_", "0200:00ff:0001:0000", "0200:00ff:0001:0000", false, true },
        { MELLANOX_IB, "mlx5_", "0200:00ff:0001:0000", "0200:00ff:0002:0000", false, false },
        { MELLANOX_IB, "mlx5_", "0200:00ff:0001:0000", "0200:00ff:0001:0000", true, false },
        { MELLANOX_IB, "mlx5_", "0000:0000:0000:0000", "0000:0000:0000:0000", false, false },
        { OMNIPATH, "hfi1_", "0011:7501:0101:0000", "0011:7501:0101:0000", false, false },
    };
    static const char *const pci[] = { "0000:01:00.0", "0000:81:00.0", "0000:01:00.1",
                                       "0000:81:00.1" };
    for (unsigned c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        dump_make();
        for (unsigned i = 0; i < (cases[c].two_ports ? 4 : 2); i++) {
            char name[16], path[128];
            snprintf(name, sizeof(name), "%s%u", cases[c].name, i);
            dump_pci(pci[i], cases[c].ids);
            dump_verbs(pci[i], name, 1, "InfiniBand", "4: ACTIVE", EDR, FE80);
            snprintf(path, sizeof(path), "sys/devices/pci/%s/infiniband/%s/sys_image_guid", pci[i],
                     name);
            dump_file(path, i % 2 ? cases[c].second : cases[c].first);
        }
        struct nuioa_node *node = machine_load(dump_path, NULL);
        const struct nuioa_nic *last = &node->nics[node->nic_count - 1];
        assert_int_equal(node->nic_count, cases[c].two_ports ? 4 : 2);
        assert_int_equal(node->nics[0].card == last->card, cases[c].same);
    }
}

TEST(test_virtual_function)
{
    dump_make();
    dump_pci("0000:81:00.0", MELLANOX_ETH);
    dump_net("0000:81:00.0", "eth0", MAC, "up", "25000");
    dump_pci("0000:81:00.2", MELLANOX_ETH);
    dump_net("0000:81:00.2", "eth0v0", MAC, "up", "100000");
    dump_link("sys/devices/pci/0000:81:00.2/physfn", "../0000:81:00.0");
    /* its representor is on the card itself */
    dump_net("0000:81:00.0", "eth0r0", MAC, "up", "100000");
    dump_file("sys/devices/pci/0000:81:00.0/net/eth0r0/phys_port_name", "pf0vf0");
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_true(find(node, "eth0")->usable);
    assert_true(find(node, "eth0v0")->is_function && !find(node, "eth0r0")->is_function);
    assert_true(find(node, "eth0v0")->is_virtual && !find(node, "eth0v0")->usable);
    assert_true(find(node, "eth0r0")->is_virtual && !find(node, "eth0r0")->usable);

    /* A container has the function alone: the card's netdev is in another namespace. */
    dump_make();
    dump_pci("0000:81:00.0", MELLANOX_ETH);
    dump_pci("0000:81:00.2", MELLANOX_ETH);
    dump_net("0000:81:00.2", "net1", MAC, "up", "100000");
    dump_link("sys/devices/pci/0000:81:00.2/physfn", "../0000:81:00.0");
    node = machine_load(dump_path, NULL);
    assert_true(find(node, "net1")->usable && find(node, "net1")->is_function);
}

/* Members of a bond are no NICs of their own, but an InfiniBand port that IP bonds still is one. */
TEST(test_bond)
{
    dump_make();
    dump_pci("0000:01:00.0", INTEL_ETH);
    dump_net("0000:01:00.0", "eth0", MAC, "up", "100000");
    dump_file("sys/devices/pci/0000:01:00.0/net/eth0/bonding_slave/state", "active");
    dump_pci("0000:81:00.0", MELLANOX_IB);
    dump_verbs("0000:81:00.0", "mlx5_0", 1, "InfiniBand", "4: ACTIVE", EDR, FE80);
    dump_net("0000:81:00.0", "ib0", IPOIB, "up", NULL);
    dump_file("sys/devices/pci/0000:81:00.0/net/ib0/bonding_slave/state", "active");
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_true(find(node, "eth0")->is_virtual);
    assert_true(find(node, "mlx5_0:1")->usable);
    assert_string_equal(find(node, "mlx5_0:1")->netdev, "ib0");
}

/* Two ports as one RDMA device: its netdev is the bond, which is on no card. */
TEST(test_rdma_bond)
{
    dump_make();
    dump_pci("0000:81:00.0", MELLANOX_ETH);
    dump_verbs("0000:81:00.0", "mlx5_bond_0", 1, "Ethernet", "4: ACTIVE", EDR, FE80);
    dump_file("sys/devices/pci/0000:81:00.0/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0",
              "bond0");
    dump_net(NULL, "bond0", MAC, "up", "100000");
    struct nuioa_node *node = machine_load(dump_path, NULL);
    const struct nuioa_nic *nic = find(node, "mlx5_bond_0:1");
    assert_true(nic->usable);
    assert_string_equal(nic->netdev, "bond0");
}

/* A topology with devices that hwloc was told to keep though no hardware is behind them. */
TEST(test_software_devices)
{
    static const char devices[] =
        "<object type=\"OSDev\" gp_index=\"901\" name=\"rxe0\" osdev_type=\"3\">"
        "<info name=\"Port1State\" value=\"4\"/></object>"
        "<object type=\"OSDev\" gp_index=\"902\" name=\"bond0\" osdev_type=\"2\"/>"
        "<object type=\"OSDev\" gp_index=\"903\" name=\"veth1\" osdev_type=\"2\"/>"
        "<object type=\"OSDev\" gp_index=\"904\" name=\"eth0.8\" osdev_type=\"2\"/>"
        "<object type=\"OSDev\" gp_index=\"905\" name=\"lo\" osdev_type=\"2\"/>";
    char text[65536], *xml = file_text(file_of_sources("../topologies/laptop-with-nic.xml"));
    const char *end = strstr(xml, "  </object>\n  <support"); /* of the machine */
    assert_non_null(end);
    int length = snprintf(text, sizeof(text), "%.*s%s%s", (int)(end - xml), xml, devices, end);
    assert_in_range(length, 1, sizeof(text) - 1);
    struct nuioa_node *node = machine_load(file_new(text, (size_t)length), NULL);
    assert_int_equal(node->nic_count, 5);
    for (uint32_t i = 0; i < node->nic_count; i++) {
        assert_int_equal(node->nics[i].is_virtual, i > 0); /* those without PCI are last */
        assert_int_equal(node->nics[i].usable, i == 0);
    }
    assert_int_equal(find(node, "rxe0:1")->kind, NUIOA_NIC_ROCE);
    assert_string_equal(find(node, "rxe0:1")->pci, "");
}

/* On a board without PCI: hardware all the same. */
TEST(test_platform_device)
{
    dump_make();
    dump_link("sys/class/net/eth0", "../../devices/platform/eth/net/eth0");
    dump_file("sys/devices/platform/eth/net/eth0/operstate", "up");
    dump_file("sys/devices/platform/eth/net/eth0/speed", "10000");
    dump_link("sys/devices/platform/eth/net/eth0/device", "../../../eth");
    dump_file("sys/devices/platform/eth/numa_node", "1");
    struct nuioa_node *node = machine_load(dump_path, NULL);
    const struct nuioa_nic *nic = find(node, "eth0");
    assert_true(nic->usable && !nic->is_virtual);
    assert_true(hwloc_bitmap_isset(nic->numas, 1) && hwloc_bitmap_weight(nic->numas) == 1);
    assert_int_equal(nic->rate_mbps, 10000);
}

TEST(test_kinds)
{
    dump_make();
    dump_pci("0000:81:00.0", "0x020000 0x17db 0x0501");
    dump_net("0000:81:00.0", "hsn0", MAC, "up", "200000");
    dump_pci("0000:82:00.0", "0x020000 0x1d0f 0xefa1");
    dump_verbs("0000:82:00.0", "rdmap0", 1, "Unspecified", "4: ACTIVE", EDR, FE80);
    dump_pci("0000:83:00.0", "0x020800 0x8086 0x24f0");
    dump_verbs("0000:83:00.0", "hfi1_0", 1, "InfiniBand", "4: ACTIVE", EDR, FE80);
    dump_pci("0000:84:00.0", "0x0c0330 0x1b21 0x1242");
    dump_net("0000:84:00.0", "usb0", MAC, "unknown", NULL);
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_int_equal(find(node, "hsn0")->kind, NUIOA_NIC_SLINGSHOT);
    assert_int_equal(find(node, "rdmap0:1")->kind, NUIOA_NIC_EFA);
    assert_int_equal(find(node, "hfi1_0:1")->kind, NUIOA_NIC_OMNIPATH);
    assert_string_equal(find(node, "hfi1_0:1")->fabric, "");
    assert_true(find(node, "hsn0")->usable);
    for (uint32_t i = 0; i < node->nic_count; i++)
        assert_true(strcmp(node->nics[i].name, "usb0") || node->nics[i].kind == NUIOA_NIC_OTHER);
}

/* --- locality --------------------------------------------------------------------------------- */

static void check_locality(enum nuioa_locality locality, int numa, unsigned warnings)
{
    struct nuioa_node *node = machine_load(dump_path, NULL);
    const struct nuioa_nic *nic = find(node, "eth0");
    assert_string_equal(nuioa_locality_name(nic->locality), nuioa_locality_name(locality));
    assert_int_equal(hwloc_bitmap_first(nic->numas), numa);
    assert_int_equal(nic->level != NULL, numa >= 0);
    assert_int_equal(hwloc_bitmap_iszero(nic->cpus), numa < 0);
    assert_int_equal(node->warnings.count, warnings);
}

TEST(test_locality)
{
    dump_make();
    dump_pci("0000:f1:00.0", INTEL_ETH);
    dump_net("0000:f1:00.0", "eth0", MAC, "up", "25000");
    check_locality(NUIOA_LOCALITY_UNKNOWN, -1, 0);
    /* the device knows what its host bridge does not */
    dump_file("sys/devices/pci/0000:f1:00.0/numa_node", "1");
    check_locality(NUIOA_LOCALITY_SYSFS, 1, 0);
    /* a NUMA node that does not exist */
    dump_file("sys/devices/pci/0000:f1:00.0/numa_node", "7");
    check_locality(NUIOA_LOCALITY_UNKNOWN, -1, 0);
    /* the administrator knows better */
    setenv("HWLOC_PCI_LOCALITY", "0000:f1 0x3;", 1);
    check_locality(NUIOA_LOCALITY_OVERRIDE, 0, 0);
    setenv("HWLOC_PCI_LOCALITY", "0000:41-42 0x3", 1);
    check_locality(NUIOA_LOCALITY_UNKNOWN, -1, 0);
    unsetenv("HWLOC_PCI_LOCALITY");
}

TEST(test_contradiction)
{
    dump_make();
    dump_pci("0000:81:00.0", INTEL_ETH);
    dump_net("0000:81:00.0", "eth0", MAC, "up", "25000");
    dump_file("sys/devices/pci/0000:81:00.0/numa_node", "0");
    check_locality(NUIOA_LOCALITY_HWLOC, 1, 1);
}

/* hwloc 2.13 lists cxi0 without a hardware address. It is left out if the netdev of the same card
 * is there, and is the card's only name if the netdev is not. */
TEST(test_slingshot)
{
    char *text = file_text(file_of_sources("../topologies/slingshot-cxi.xml"));
    char *from = strstr(text, "name=\"hsn0\""), *to = strstr(from, "osdev_type=\"2\"");
    assert_non_null(to);
    for (int there = 1; there >= 0; there--) {
        to[strlen("osdev_type=\"")] = there ? '2' : '0'; /* 0: a disk */
        struct nuioa_node *node = machine_load(file_new(text, strlen(text)), NULL);
        assert_int_equal(node->nic_count, 2);
        assert_string_equal(find(node, there ? "hsn0" : "cxi0")->cxi, "cxi0");
        assert_string_equal(find(node, "hsn1")->cxi, "cxi1");
    }
}

/* Older versions of hwloc do not list the device that libfabric opens; it is below the card's. */
TEST(test_slingshot_device)
{
    dump_make();
    dump_pci("0000:81:00.0", CRAY_ETH);
    dump_net("0000:81:00.0", "hsn3", MAC, "up", "200000");
    dump_file("sys/devices/pci/0000:81:00.0/cxi/cxi1/device", "x");
    dump_file("sys/devices/pci/0000:81:00.0/cxi/cxi_other/device", "x");
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_int_equal(find(node, "hsn3")->kind, NUIOA_NIC_SLINGSHOT);
    assert_string_equal(find(node, "hsn3")->cxi, "cxi1");
}

/* A root whose name leaves no room for that of a class. */
TEST(test_long_root)
{
    struct nuioa_sysfs sysfs;
    char root[PATH_MAX];
    dump_make();
    for (int longer = 0; longer < 2; longer++) {
        size_t used = strlen(dump_path), length = longer ? sizeof(root) - 12 : sizeof(root) - 30;
        memset(root, '/', sizeof(root));
        memcpy(root, dump_path, used);
        root[length] = '\0';
        nuioa_sysfs_open(&sysfs, root);
        assert_int_equal(sysfs.net >= 0, !longer);
        assert_int_equal(sysfs.drm, -1);
        nuioa_sysfs_close(&sysfs);
    }
}
