/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dump.h"
#include "machine.h"
#include "topology/node.h"
#include "topology/node_load.h"

#define FE80 "fe80:0000:0000:0000"
#define IPOIB "80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:01"
#define MAC "02:00:00:00:00:01"
#define MELLANOX_IB "0x020700 0x15b3 0x101b"
#define MELLANOX_ETH "0x020000 0x15b3 0x101d"
#define EDR "100 Gb/sec (4X EDR)"
#define INTEL_ETH "0x020000 0x8086 0x1521"

/* --- what auto takes -------------------------------------------------------------------------- */

struct port {
    enum nuioa_nic_kind kind;
    enum nuioa_nic_state state;
    uint32_t rate_mbps;
    const char *fabric;
    bool is_virtual;
};

#define IB NUIOA_NIC_INFINIBAND
#define ROCE NUIOA_NIC_ROCE
#define ETH NUIOA_NIC_ETHERNET
#define SLINGSHOT NUIOA_NIC_SLINGSHOT
#define OTHER NUIOA_NIC_OTHER
#define UP NUIOA_NIC_ACTIVE
#define DOWN NUIOA_NIC_DOWN
#define UNKNOWN NUIOA_NIC_UNKNOWN

/* Letters of the ports that auto takes: a is the first, and so on. */
static const struct {
    const char *what;
    struct port ports[5];
    unsigned count;
    const char *usable;
} judgements[] = {
    { "the only one", { { ETH, UP, 10000, "", false } }, 1, "a" },
    { "a gigabit is not worth it", { { ETH, UP, 1000, "", false } }, 1, "" },
    { "exactly 8 Gb/s is", { { IB, UP, 8000, "", false } }, 1, "a" },
    { "down", { { IB, DOWN, 200000, "", false }, { ETH, UP, 25000, "", false } }, 2, "b" },
    { "state unknown", { { ETH, UNKNOWN, 25000, "", false } }, 1, "a" },
    { "the fastest", { { ETH, UP, 25000, "", false }, { IB, UP, 100000, "", false } }, 2, "b" },
    { "Ethernet where it is faster",
      { { ETH, UP, 200000, "", false }, { IB, UP, 56000, "", false } },
      2,
      "a" },
    { "equally fast", { { ETH, UP, 100000, "", false }, { IB, UP, 100000, "", false } }, 2, "b" },
    { "two rates of one fabric",
      { { IB, UP, 200000, "x", false }, { IB, UP, 100000, "x", false } },
      2,
      "a" },
    { "rates as drivers round them",
      { { IB, UP, 56000, "x", false }, { IB, UP, 54500, "x", false } },
      2,
      "ab" },
    { "no rate known: RDMA", { { ETH, UP, 0, "", false }, { ROCE, UP, 0, "", false } }, 2, "b" },
    { "no rate known: Slingshot",
      { { ETH, UP, 0, "", false }, { SLINGSHOT, UNKNOWN, 0, "", false } },
      2,
      "b" },
    { "no rate known: only Ethernet",
      { { ETH, UP, 0, "", false }, { ETH, UP, 0, "", false } },
      2,
      "ab" },
    { "a known rate before an unknown",
      { { ETH, UP, 0, "", false }, { ETH, UP, 10000, "", false } },
      2,
      "b" },
    { "unknown before known to be slow",
      { { ETH, UP, 0, "", false }, { ETH, UP, 1000, "", false } },
      2,
      "a" },
    { "virtual", { { IB, UP, 200000, "", true }, { IB, UP, 100000, "", false } }, 2, "b" },
    { "no kind of network for MPI",
      { { OTHER, UP, 100000, "", false }, { ETH, UP, 0, "", false } },
      2,
      "b" },
    { "two fabrics: the faster",
      { { IB, UP, 100000, "x", false }, { IB, UP, 200000, "y", false } },
      2,
      "b" },
    { "two fabrics: more ports",
      { { IB, UP, 100000, "x", false },
        { IB, UP, 100000, "y", false },
        { IB, UP, 100000, "y", false } },
      3,
      "bc" },
    { "two fabrics: a port that is down does not count",
      { { IB, UP, 0, "x", false },
        { IB, UP, 0, "y", false },
        { IB, DOWN, 0, "y", false },
        { IB, UP, 0, "x", false } },
      4,
      "ad" },
    { "two fabrics: the first", { { IB, UP, 0, "x", false }, { IB, UP, 0, "y", false } }, 2, "a" },
    { "nothing", { { IB, DOWN, 0, "", false } }, 1, "" },
};

static void build(struct nuioa_node *node, const struct port *ports, unsigned count)
{
    static const struct shape shape = { 2, 2, 1, 1, NULL };
    machine_build(node, &shape);
    for (unsigned i = 0; i < count; i++) {
        char name[2] = { (char)('a' + i), '\0' };
        struct nuioa_nic *nic = machine_nic(node, name, i % 2);
        nic->port = ports[i].kind == IB || ports[i].kind == ROCE;
        nic->kind = ports[i].kind;
        nic->state = ports[i].state;
        nic->rate_mbps = ports[i].rate_mbps;
        nic->is_virtual = ports[i].is_virtual;
        nuioa_copy(nic->fabric, sizeof(nic->fabric), ports[i].fabric);
    }
    nuioa_nic_judge(node);
}

static void test_judge(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof(judgements) / sizeof(judgements[0]); t++) {
        struct nuioa_node node;
        char usable[8] = "";
        build(&node, judgements[t].ports, judgements[t].count);
        for (uint32_t i = 0; i < node.nic_count; i++) {
            if (node.nics[i].usable)
                strcat(usable, node.nics[i].name);
            assert_true(node.nics[i].usable == !node.nics[i].why[0]);
        }
        if (strcmp(usable, judgements[t].usable))
            print_error("%s:\n", judgements[t].what);
        assert_string_equal(usable, judgements[t].usable);
        nuioa_node_free(&node);
    }
}

/* A port comes up or goes down between two launches. */
static void test_judge_again(void **state)
{
    (void)state;
    static const struct port ports[] = { { IB, UP, 100000, "", false },
                                         { ETH, UP, 25000, "", false } };
    struct nuioa_node node;
    build(&node, ports, 2);
    node.nics[0].state = NUIOA_NIC_DOWN;
    nuioa_nic_judge(&node);
    assert_false(node.nics[0].usable);
    assert_string_equal(node.nics[0].why, "down");
    assert_true(node.nics[1].usable);
    assert_string_equal(node.nics[1].why, "");
    nuioa_node_free(&node);
}

/* --- patterns --------------------------------------------------------------------------------- */

/* a, b: InfiniBand 100 and 200; c: Ethernet 25; d: down InfiniBand; e: virtual Ethernet */
static const struct port mixed[] = { { IB, UP, 100000, "", false },
                                     { IB, UP, 200000, "", false },
                                     { ETH, UP, 25000, "", false },
                                     { IB, DOWN, 200000, "", false },
                                     { ETH, UP, 100000, "", true } };

#define BW NUIOA_POLICY_BANDWIDTH

static const struct {
    const char *pattern, *taken;
    unsigned warnings;
    enum nuioa_policy policy;
} selections[] = {
    { "auto", "b", 0, BW },
    { "a", "a", 0, BW },
    { "a,b", "ab", 0, BW },
    { "b,a,a", "ab", 0, BW },
    { "a:1", "a", 0, BW },
    { "a:2", "", 1, BW },
    { "0000:00:00.2", "c", 0, BW },
    { "eth9", "c", 0, BW }, /* the netdev of c */
    { "infiniband", "ab", 0, BW },
    { "ethernet", "c", 0, BW },
    { "slingshot", "", 0, BW },
    { "*", "abc", 0, BW },
    { "[ab]", "ab", 0, BW },
    { "x*", "", 0, BW },
    { "e", "e", 0, BW }, /* a name overrules what auto thinks */
    { "d", "", 1, BW },  /* but not a link that is down */
    { "x", "", 1, BW },
    { "x,a", "a", 1, BW },
    { "^b", "a", 0, BW }, /* auto among the rest */
    { "^a", "b", 0, BW },
    { "^infiniband", "c", 0, BW },
    { "^[ab]", "c", 0, BW },
    { "^x", "b", 0, BW }, /* what is not there is excluded */
    { "auto,c", "bc", 0, BW },
    { "auto,^b", "a", 0, BW },
    { "*,^a", "bc", 0, BW },
    { "^a,*", "bc", 0, BW },
    { "a,^a", "", 0, BW },
    { "^*", "", 0, BW },
};

static void test_select(void **state)
{
    (void)state;
    struct nuioa_node node;
    build(&node, mixed, 5);
    nuioa_copy(node.nics[2].netdev, sizeof(node.nics[2].netdev), "eth9");
    for (uint32_t i = 0; i < node.nic_count; i++)
        snprintf(node.nics[i].pci, sizeof(node.nics[i].pci), "0000:00:00.%x", i & 7);
    for (size_t t = 0; t < sizeof(selections) / sizeof(selections[0]); t++) {
        bool taken[5];
        char names[8] = "";
        struct nuioa_warnings warnings = { .count = 0 };
        struct nuioa_error err;
        int count = nuioa_nic_select(&node, selections[t].pattern, selections[t].policy, taken,
                                     &warnings, &err);
        for (unsigned i = 0; i < 5; i++)
            if (taken[i])
                strcat(names, node.nics[i].name);
        if (strcmp(names, selections[t].taken) || warnings.count != selections[t].warnings)
            print_error("%s:\n", selections[t].pattern);
        assert_string_equal(names, selections[t].taken);
        assert_int_equal(count, strlen(names));
        assert_int_equal(warnings.count, selections[t].warnings);
    }
    nuioa_node_free(&node);
}

/* a: Ethernet 400, b: InfiniBand 100, c: InfiniBand 200, d: RoCE 200 */
static void test_latency_bypasses_the_kernel(void **state)
{
    (void)state;
    static const struct port ports[] = { { ETH, UP, 400000, "", false },
                                         { IB, UP, 100000, "", false },
                                         { IB, UP, 200000, "", false },
                                         { ROCE, UP, 200000, "", false } };
    static const struct {
        enum nuioa_policy policy;
        const char *pattern;
        unsigned taken;
    } cases[] = { { NUIOA_POLICY_BANDWIDTH, "auto", 0 }, { NUIOA_POLICY_LATENCY, "auto", 2 },
                  { NUIOA_POLICY_LATENCY, "^c", 3 },     { NUIOA_POLICY_LATENCY, "^c,^d", 1 },
                  { NUIOA_POLICY_LATENCY, "^[b-d]", 0 }, { NUIOA_POLICY_CPU, "auto", 0 } };
    struct nuioa_node node;
    build(&node, ports, 4);
    for (size_t t = 0; t < sizeof(cases) / sizeof(cases[0]); t++) {
        bool taken[4];
        struct nuioa_warnings warnings = { .count = 0 };
        struct nuioa_error err;
        assert_int_equal(
            nuioa_nic_select(&node, cases[t].pattern, cases[t].policy, taken, &warnings, &err), 1);
        assert_true(taken[cases[t].taken]);
    }
    /* what topo says is for bandwidth */
    assert_true(node.nics[0].usable && !node.nics[2].usable);
    nuioa_node_free(&node);
}

static void test_malformed_patterns(void **state)
{
    (void)state;
    static const char *const bad[] = { "",
                                       ",",
                                       "a,",
                                       ",a",
                                       "a,,b",
                                       "^",
                                       "a b",
                                       "^auto",
                                       "a/b",
                                       "a\n",
                                       "a;b",
                                       "$(a)",
                                       "mlx5_[[:digit:]]",
                                       "[][:alpha:]]",
                                       "[a[.b.]]",
                                       "[.a.]" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct nuioa_error err = { "" };
        if (nuioa_nic_check(bad[i], &err) != -EINVAL)
            print_error("\"%s\":\n", bad[i]);
        assert_int_equal(nuioa_nic_check(bad[i], &err), -EINVAL);
        assert_string_not_equal(err.text, "");
    }
    char long_one[200];
    memset(long_one, 'a', sizeof(long_one));
    long_one[sizeof(long_one) - 1] = '\0';
    assert_int_equal(nuioa_nic_check(long_one, NULL), -EINVAL);
    assert_int_equal(nuioa_nic_check("mlx5_*,^mlx5_0:1,hsi[0-3],0000:41:00.0", NULL), 0);
}

/* --- what a machine's files say --------------------------------------------------------------- */

static void load(struct nuioa_node *node, const struct dump *dump)
{
    struct nuioa_source source = { .topology = dump->path };
    struct nuioa_error err = { "" };
    if (nuioa_node_load(node, &source, &err))
        print_error("%s\n", err.text);
    assert_string_equal(err.text, "");
}

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

static void test_infiniband(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_node node;
    dump_make(&dump);
    dump_pci(&dump, "0000:81:00.0", MELLANOX_IB);
    dump_verbs(&dump, "0000:81:00.0", "mlx5_0", 1, "InfiniBand", "4: ACTIVE",
               "54.5 Gb/sec (4X FDR)", FE80);
    dump_net(&dump, "0000:81:00.0", "ib0", IPOIB, "up", NULL);
    load(&node, &dump);
    assert_int_equal(node.nic_count, 1);
    const struct nuioa_nic *nic = find(&node, "mlx5_0:1");
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
    assert_true(nic->usable && node.emulated);
    nuioa_node_free(&node);
    dump_remove(&dump);
}

/* Ports, link layers and netdevs of one function; the subnet manager has not come to port 2. */
static void test_two_ports(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_node node;
    dump_make(&dump);
    dump_pci(&dump, "0000:81:00.0", MELLANOX_IB);
    dump_verbs(&dump, "0000:81:00.0", "mlx4_0", 1, "InfiniBand", "4: ACTIVE", "40 Gb/sec (4X QDR)",
               FE80);
    dump_verbs(&dump, "0000:81:00.0", "mlx4_0", 2, "Ethernet", "2: INIT", "10 Gb/sec (1X QDR)",
               FE80);
    dump_net(&dump, "0000:81:00.0", "eth5", MAC, "down", NULL);
    dump_file(&dump, "sys/devices/pci/0000:81:00.0/net/eth5/dev_port", "1");
    dump_net(&dump, "0000:81:00.0", "ib0", IPOIB, "up", NULL);
    load(&node, &dump);
    assert_int_equal(node.nic_count, 2);
    const struct nuioa_nic *one = find(&node, "mlx4_0:1"), *two = find(&node, "mlx4_0:2");
    assert_string_equal(one->netdev, "ib0");
    assert_string_equal(two->netdev, "eth5");
    assert_int_equal(one->card, two->card);
    assert_int_equal(one->kind, NUIOA_NIC_INFINIBAND);
    assert_int_equal(two->kind, NUIOA_NIC_ROCE);
    assert_int_equal(two->state, NUIOA_NIC_DOWN);
    assert_string_equal(two->fabric, "");
    nuioa_node_free(&node);
    dump_remove(&dump);
}

static void test_virtual_function(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_node node;
    dump_make(&dump);
    dump_pci(&dump, "0000:81:00.0", MELLANOX_ETH);
    dump_net(&dump, "0000:81:00.0", "eth0", MAC, "up", "25000");
    dump_pci(&dump, "0000:81:00.2", MELLANOX_ETH);
    dump_net(&dump, "0000:81:00.2", "eth0v0", MAC, "up", "100000");
    dump_link(&dump, "sys/devices/pci/0000:81:00.2/physfn", "../0000:81:00.0");
    /* its representor is on the card itself */
    dump_net(&dump, "0000:81:00.0", "eth0r0", MAC, "up", "100000");
    dump_file(&dump, "sys/devices/pci/0000:81:00.0/net/eth0r0/phys_port_name", "pf0vf0");
    load(&node, &dump);
    assert_true(find(&node, "eth0")->usable);
    assert_true(find(&node, "eth0v0")->is_virtual && !find(&node, "eth0v0")->usable);
    assert_true(find(&node, "eth0r0")->is_virtual && !find(&node, "eth0r0")->usable);
    nuioa_node_free(&node);
    dump_remove(&dump);
}

/* Members of a bond are no NICs of their own, but an InfiniBand port that IP bonds still is one. */
static void test_bond(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_node node;
    dump_make(&dump);
    dump_pci(&dump, "0000:01:00.0", INTEL_ETH);
    dump_net(&dump, "0000:01:00.0", "eth0", MAC, "up", "100000");
    dump_file(&dump, "sys/devices/pci/0000:01:00.0/net/eth0/bonding_slave/state", "active");
    dump_pci(&dump, "0000:81:00.0", MELLANOX_IB);
    dump_verbs(&dump, "0000:81:00.0", "mlx5_0", 1, "InfiniBand", "4: ACTIVE", EDR, FE80);
    dump_net(&dump, "0000:81:00.0", "ib0", IPOIB, "up", NULL);
    dump_file(&dump, "sys/devices/pci/0000:81:00.0/net/ib0/bonding_slave/state", "active");
    load(&node, &dump);
    assert_true(find(&node, "eth0")->is_virtual);
    assert_true(find(&node, "mlx5_0:1")->usable);
    assert_string_equal(find(&node, "mlx5_0:1")->netdev, "ib0");
    nuioa_node_free(&node);
    dump_remove(&dump);
}

/* Two ports as one RDMA device: its netdev is the bond, which is on no card. */
static void test_rdma_bond(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_node node;
    dump_make(&dump);
    dump_pci(&dump, "0000:81:00.0", MELLANOX_ETH);
    dump_verbs(&dump, "0000:81:00.0", "mlx5_bond_0", 1, "Ethernet", "4: ACTIVE", EDR, FE80);
    dump_file(&dump,
              "sys/devices/pci/0000:81:00.0/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0",
              "bond0");
    dump_net(&dump, NULL, "bond0", MAC, "up", "100000");
    load(&node, &dump);
    const struct nuioa_nic *nic = find(&node, "mlx5_bond_0:1");
    assert_true(nic->usable);
    assert_string_equal(nic->netdev, "bond0");
    nuioa_node_free(&node);
    dump_remove(&dump);
}

/* A topology with devices that hwloc was told to keep though no hardware is behind them. */
static void test_software_devices(void **state)
{
    (void)state;
    static const char devices[] =
        "<object type=\"OSDev\" gp_index=\"901\" name=\"rxe0\" osdev_type=\"3\">"
        "<info name=\"Port1State\" value=\"4\"/></object>"
        "<object type=\"OSDev\" gp_index=\"902\" name=\"bond0\" osdev_type=\"2\"/>"
        "<object type=\"OSDev\" gp_index=\"903\" name=\"veth1\" osdev_type=\"2\"/>"
        "<object type=\"OSDev\" gp_index=\"904\" name=\"eth0.8\" osdev_type=\"2\"/>"
        "<object type=\"OSDev\" gp_index=\"905\" name=\"lo\" osdev_type=\"2\"/>";
    char text[65536], path[] = "/tmp/nuioa-xml-XXXXXX", from[512];
    const char *srcdir = getenv("srcdir");
    snprintf(from, sizeof(from), "%s/../topologies/laptop-with-nic.xml", srcdir ? srcdir : ".");
    FILE *in = fopen(from, "r"), *out = fdopen(mkstemp(path), "w");
    assert_true(in && out);
    text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
    char *end = strstr(text, "  </object>\n  <support"); /* of the machine */
    assert_non_null(end);
    assert_true(fprintf(out, "%.*s%s%s", (int)(end - text), text, devices, end) > 0);
    assert_int_equal(fclose(in) | fclose(out), 0);
    struct nuioa_node node;
    struct nuioa_source source = { .topology = path };
    assert_int_equal(nuioa_node_load(&node, &source, NULL), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(node.nic_count, 5);
    for (uint32_t i = 0; i < node.nic_count; i++) {
        assert_int_equal(node.nics[i].is_virtual, i > 0); /* those without PCI are last */
        assert_int_equal(node.nics[i].usable, i == 0);
    }
    assert_int_equal(find(&node, "rxe0:1")->kind, NUIOA_NIC_ROCE);
    assert_string_equal(find(&node, "rxe0:1")->pci, "");
    nuioa_node_free(&node);
}

/* On a board without PCI: hardware all the same. */
static void test_platform_device(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_node node;
    dump_make(&dump);
    dump_link(&dump, "sys/class/net/eth0", "../../devices/platform/eth/net/eth0");
    dump_file(&dump, "sys/devices/platform/eth/net/eth0/operstate", "up");
    dump_file(&dump, "sys/devices/platform/eth/net/eth0/speed", "10000");
    dump_link(&dump, "sys/devices/platform/eth/net/eth0/device", "../../../eth");
    dump_file(&dump, "sys/devices/platform/eth/numa_node", "1");
    load(&node, &dump);
    const struct nuioa_nic *nic = find(&node, "eth0");
    assert_true(nic->usable && !nic->is_virtual);
    assert_true(hwloc_bitmap_isset(nic->numas, 1) && hwloc_bitmap_weight(nic->numas) == 1);
    assert_int_equal(nic->rate_mbps, 10000);
    nuioa_node_free(&node);
    dump_remove(&dump);
}

static void test_kinds(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_node node;
    dump_make(&dump);
    dump_pci(&dump, "0000:81:00.0", "0x020000 0x17db 0x0501");
    dump_net(&dump, "0000:81:00.0", "hsn0", MAC, "up", "200000");
    dump_pci(&dump, "0000:82:00.0", "0x020000 0x1d0f 0xefa1");
    dump_verbs(&dump, "0000:82:00.0", "rdmap0", 1, "Unspecified", "4: ACTIVE", EDR, FE80);
    dump_pci(&dump, "0000:83:00.0", "0x020800 0x8086 0x24f0");
    dump_verbs(&dump, "0000:83:00.0", "hfi1_0", 1, "InfiniBand", "4: ACTIVE", EDR, FE80);
    dump_pci(&dump, "0000:84:00.0", "0x0c0330 0x1b21 0x1242");
    dump_net(&dump, "0000:84:00.0", "usb0", MAC, "unknown", NULL);
    load(&node, &dump);
    assert_int_equal(find(&node, "hsn0")->kind, NUIOA_NIC_SLINGSHOT);
    assert_int_equal(find(&node, "rdmap0:1")->kind, NUIOA_NIC_EFA);
    assert_int_equal(find(&node, "hfi1_0:1")->kind, NUIOA_NIC_OMNIPATH);
    assert_string_equal(find(&node, "hfi1_0:1")->fabric, "");
    assert_true(find(&node, "hsn0")->usable);
    for (uint32_t i = 0; i < node.nic_count; i++)
        assert_true(strcmp(node.nics[i].name, "usb0") || node.nics[i].kind == NUIOA_NIC_OTHER);
    nuioa_node_free(&node);
    dump_remove(&dump);
}

/* --- locality --------------------------------------------------------------------------------- */

static void check_locality(const struct dump *dump, enum nuioa_locality locality, int numa,
                           unsigned warnings)
{
    struct nuioa_node node;
    load(&node, dump);
    const struct nuioa_nic *nic = find(&node, "eth0");
    assert_string_equal(nuioa_locality_name(nic->locality), nuioa_locality_name(locality));
    assert_int_equal(hwloc_bitmap_first(nic->numas), numa);
    assert_int_equal(nic->level != NULL, numa >= 0);
    assert_int_equal(hwloc_bitmap_iszero(nic->cpus), numa < 0);
    assert_int_equal(node.warnings.count, warnings);
    nuioa_node_free(&node);
}

static void test_locality(void **state)
{
    (void)state;
    struct dump dump;
    dump_make(&dump);
    dump_pci(&dump, "0000:f1:00.0", INTEL_ETH);
    dump_net(&dump, "0000:f1:00.0", "eth0", MAC, "up", "25000");
    check_locality(&dump, NUIOA_LOCALITY_UNKNOWN, -1, 0);
    /* the device knows what its host bridge does not */
    dump_file(&dump, "sys/devices/pci/0000:f1:00.0/numa_node", "1");
    check_locality(&dump, NUIOA_LOCALITY_SYSFS, 1, 0);
    /* a NUMA node that does not exist */
    dump_file(&dump, "sys/devices/pci/0000:f1:00.0/numa_node", "7");
    check_locality(&dump, NUIOA_LOCALITY_UNKNOWN, -1, 0);
    /* the administrator knows better */
    setenv("HWLOC_PCI_LOCALITY", "0000:f1 0x3;", 1);
    check_locality(&dump, NUIOA_LOCALITY_OVERRIDE, 0, 0);
    setenv("HWLOC_PCI_LOCALITY", "0000:41-42 0x3", 1);
    check_locality(&dump, NUIOA_LOCALITY_UNKNOWN, -1, 0);
    unsetenv("HWLOC_PCI_LOCALITY");
    dump_remove(&dump);
}

static void test_contradiction(void **state)
{
    (void)state;
    struct dump dump;
    dump_make(&dump);
    dump_pci(&dump, "0000:81:00.0", INTEL_ETH);
    dump_net(&dump, "0000:81:00.0", "eth0", MAC, "up", "25000");
    dump_file(&dump, "sys/devices/pci/0000:81:00.0/numa_node", "0");
    check_locality(&dump, NUIOA_LOCALITY_HWLOC, 1, 1);
    dump_remove(&dump);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_judge_again),
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_latency_bypasses_the_kernel),
        cmocka_unit_test(test_malformed_patterns),
        cmocka_unit_test(test_infiniband),
        cmocka_unit_test(test_two_ports),
        cmocka_unit_test(test_virtual_function),
        cmocka_unit_test(test_bond),
        cmocka_unit_test(test_rdma_bond),
        cmocka_unit_test(test_software_devices),
        cmocka_unit_test(test_platform_device),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_locality),
        cmocka_unit_test(test_contradiction),
    };
    return cmocka_run_group_tests_name("nic", tests, NULL, NULL);
}
