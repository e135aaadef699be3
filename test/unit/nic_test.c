/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"
#include "topology/node.h"
#include "unit.h"

#define EDR "100 Gb/sec (4X EDR)"

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

static struct nuioa_node *build(struct nuioa_node *node, const struct port *ports, unsigned count)
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
    return node;
}

TEST(test_judge)
{
    for (size_t t = 0; t < sizeof(judgements) / sizeof(judgements[0]); t++) {
        char usable[8] = "";
        struct nuioa_node *node = build(machine_new(), judgements[t].ports, judgements[t].count);
        for (uint32_t i = 0; i < node->nic_count; i++) {
            if (node->nics[i].usable)
                strcat(usable, node->nics[i].name);
            assert_true(node->nics[i].usable == !node->nics[i].why[0]);
        }
        if (strcmp(usable, judgements[t].usable))
            print_error("%s:\n", judgements[t].what);
        assert_string_equal(usable, judgements[t].usable);
    }
}

/* A port comes up or goes down between two launches. */
TEST(test_judge_again)
{
    static const struct port ports[] = { { IB, UP, 100000, "", false },
                                         { ETH, UP, 25000, "", false } };
    struct nuioa_node *node = build(machine_new(), ports, 2);
    node->nics[0].state = NUIOA_NIC_DOWN;
    nuioa_nic_judge(node);
    assert_false(node->nics[0].usable);
    assert_string_equal(node->nics[0].why, "down");
    assert_true(node->nics[1].usable);
    assert_string_equal(node->nics[1].why, "");
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

TEST(test_select)
{
    struct nuioa_node *node = build(machine_new(), mixed, 5);
    nuioa_copy(node->nics[2].netdev, sizeof(node->nics[2].netdev), "eth9");
    for (uint32_t i = 0; i < node->nic_count; i++)
        snprintf(node->nics[i].pci, sizeof(node->nics[i].pci), "0000:00:00.%x", i & 7);
    for (size_t t = 0; t < sizeof(selections) / sizeof(selections[0]); t++) {
        bool taken[5];
        char names[8] = "";
        struct nuioa_warnings warnings = { .count = 0 };
        struct nuioa_error err;
        int count = nuioa_nic_select(node, selections[t].pattern, selections[t].policy, taken,
                                     &warnings, &err);
        for (unsigned i = 0; i < 5; i++)
            if (taken[i])
                strcat(names, node->nics[i].name);
        if (strcmp(names, selections[t].taken) || warnings.count != selections[t].warnings)
            print_error("%s:\n", selections[t].pattern);
        assert_string_equal(names, selections[t].taken);
        assert_int_equal(count, strlen(names));
        assert_int_equal(warnings.count, selections[t].warnings);
    }
}

/* a: Ethernet 400, b: InfiniBand 100, c: InfiniBand 200, d: RoCE 200 */
TEST(test_latency_bypasses_the_kernel)
{
    static const struct port ports[] = { { ETH, UP, 400000, "", false },
                                         { IB, UP, 100000, "", false },
                                         { IB, UP, 200000, "", false },
                                         { ROCE, UP, 200000, "", false } };
    static const struct {
        enum nuioa_policy policy;
        const char *pattern;
        unsigned taken;
    } cases[] = { { NUIOA_POLICY_BANDWIDTH, "auto", 0 },
                  { NUIOA_POLICY_LATENCY, "auto", 2 },
                  { NUIOA_POLICY_LATENCY, "^c", 3 },
                  { NUIOA_POLICY_LATENCY, "^c,^d", 1 },
                  { NUIOA_POLICY_LATENCY, "^[b-d]", 0 } };
    struct nuioa_node *node = build(machine_new(), ports, 4);
    for (size_t t = 0; t < sizeof(cases) / sizeof(cases[0]); t++) {
        bool taken[4];
        struct nuioa_warnings warnings = { .count = 0 };
        struct nuioa_error err;
        assert_int_equal(
            nuioa_nic_select(node, cases[t].pattern, cases[t].policy, taken, &warnings, &err), 1);
        assert_true(taken[cases[t].taken]);
    }
    /* what topo says is for bandwidth */
    assert_true(node->nics[0].usable && !node->nics[2].usable);
}

TEST(test_malformed_patterns)
{
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
