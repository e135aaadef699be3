/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout/assign.h"
#include "layout/layout.h"
#include "layout/order.h"
#include "mapping/random.h"
#include "rounds.h"
#include "unit.h"

static struct nuioa_error err;

/* --- lists ----------------------------------------------------------------------------------- */

static void expect_hosts(const char *text, const char *wanted)
{
    struct nuioa_host_list list;
    char got[256] = "";
    if (nuioa_host_list_parse(text, &list, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < list.count; i++) {
        strcat(got, i ? " " : "");
        strcat(got, list.names[i]);
    }
    assert_string_equal(got, wanted);
    nuioa_host_list_free(&list);
    assert_null(list.names);
}

TEST(test_hosts)
{
    static const char *const wrong[] = { "",      ",",    "n[",      "n[1",   "n[1-",    "n[2-1]",
                                         "n[1]m", "n[]",  "n[1,]",   "[1-2]", "n[1-2],", "n m",
                                         "n;m",   "$(n)", "n[1][2]", "-n",    "n[1-2]]", "n*" };
    struct nuioa_host_list list;
    char longest[128];
    expect_hosts("n[1-3,08-11],m7", "n1 n2 n3 n08 n09 n10 n11 m7");
    expect_hosts("10.140.71.103,a-b_c.d", "10.140.71.103 a-b_c.d");
    expect_hosts("n[9-10]", "n9 n10");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(nuioa_host_list_parse(wrong[i], &list, &err), -EINVAL);
        assert_null(list.names);
    }
    assert_int_equal(nuioa_host_list_parse("n[0-65535]", &list, &err), 0);
    assert_int_equal(list.count, NUIOA_HOSTS_MAX);
    nuioa_host_list_free(&list);
    assert_int_equal(nuioa_host_list_parse("n[0-65535],m", &list, &err), -E2BIG);
    assert_int_equal(nuioa_host_list_parse("n[0-999999999]", &list, &err), -E2BIG);
    memset(longest, 'n', sizeof(longest));
    longest[NUIOA_HOST_BYTES] = '\0';
    assert_int_equal(nuioa_host_list_parse(longest, &list, &err), -EINVAL);
    longest[NUIOA_HOST_BYTES - 1] = '\0';
    expect_hosts(longest, longest);
}

TEST(test_host_numbers)
{
    struct nuioa_host_list list;
    uint32_t node_of[6];
    assert_int_equal(nuioa_host_list_parse("n2,m,n[1-2],n10,m", &list, NULL), 0);
    assert_int_equal(nuioa_host_list_number(&list, node_of), 0);
    for (int i = 0; i < 6; i++) {
        assert_true(node_of[i] < 4);
        for (int k = 0; k < 6; k++)
            assert_true((node_of[i] == node_of[k]) == !strcmp(list.names[i], list.names[k]));
    }
    nuioa_host_list_free(&list);
}

TEST(test_task_counts)
{
    static const char *const wrong[] = { "",     "x",     "1,2",    "1,2,3,4", "3(x4)",
                                         "3(x2", "3(y2)", "1(x2),", "-1" };
    uint32_t tasks[3];
    assert_int_equal(nuioa_task_counts_parse("7", 3, tasks, &err), 0);
    assert_true(tasks[0] == 7 && tasks[1] == 7 && tasks[2] == 7);
    assert_int_equal(nuioa_task_counts_parse("3(x2),1", 3, tasks, &err), 0);
    assert_true(tasks[0] == 3 && tasks[1] == 3 && tasks[2] == 1);
    assert_int_equal(nuioa_task_counts_parse("1,2,3", 3, tasks, &err), 0);
    assert_true(tasks[0] == 1 && tasks[1] == 2 && tasks[2] == 3);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(nuioa_task_counts_parse(wrong[i], 3, tasks, &err), -EINVAL);
}

/* --- networks -------------------------------------------------------------------------------- */

static int parse(const char *text, const char *nodes, struct nuioa_network *network)
{
    struct nuioa_host_list list;
    assert_int_equal(nuioa_host_list_parse(nodes, &list, &err), 0);
    int rc = nuioa_network_parse(text, &list, network, &err);
    nuioa_host_list_free(&list);
    return rc;
}

/* Expects the distances of the first node from all. */
static void expect_distances(const char *text, const char *nodes, const char *wanted)
{
    struct nuioa_network network;
    char got[32] = "";
    if (parse(text, nodes, &network))
        fail_msg("%s", err.text);
    for (uint32_t k = 0; k < network.node_count; k++) {
        got[k] = (char)('0' + nuioa_network_distance(&network, 0, k));
        assert_int_equal(nuioa_network_distance(&network, k, 0), got[k] - '0');
    }
    assert_string_equal(got, wanted);
    nuioa_network_free(&network);
}

#define TWO_SWITCHES \
    "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]\n" \
    "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]\n"

TEST(test_networks)
{
    expect_distances("", "n[0-3]", "0111");
    expect_distances("No topology information available\n", "n[0-3]", "0111");
    expect_distances(TWO_SWITCHES
                     "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=s[0-1]\n",
                     "n[0-3]", "0122");
    expect_distances(TWO_SWITCHES "SwitchName=top Switches=s0,s1", "n[0-1]", "01");
    expect_distances(TWO_SWITCHES, "n[0-3]", "0122");
    /* Three levels, one leaf just below the root. */
    expect_distances(
        "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n2 # rack\nSwitchName=c Nodes=n3\n"
        "SwitchName=m Switches=a,b\nSwitchName=r Switches=m,c\n",
        "n[0-3]", "0123");
    expect_distances("BlockName=b0 BlockIndex=0 Nodes=n[0-1] BlockSize=2\n"
                     "BlockName=b1 BlockIndex=1 Nodes=n[2-3] BlockSize=2\n"
                     "BlockName=b2 BlockIndex=2 Nodes=n4 BlockSize=2\n"
                     "AggregatedBlock=b[0-1] BlockIndex=3 Nodes=n[0-3] BlockSize=4\n",
                     "n[0-4]", "01223");
}

#define SIZE(n) "AggregatedBlock=a Nodes=n[0-3] BlockSize=" #n "\n"
#define SIZES(a, b, c, d) SIZE(a) SIZE(b) SIZE(c) SIZE(d)

TEST(test_wrong_networks)
{
    static const struct {
        const char *text, *said;
    } wrong[] = {
        { TWO_SWITCHES "SwitchName=top Switches=s[0-2]\n", "switch s2, below top, is not there" },
        { "SwitchName=a Nodes=n[0-3] Switches=b\nSwitchName=b Switches=a\n",
          "switch a is below itself, or below more than 16 others" },
        { "SwitchName=a Nodes=n[0-3]\nSwitchName=a Nodes=n9\n", "switch a is listed twice" },
        { TWO_SWITCHES "SwitchName=x Switches=s0\nSwitchName=y Switches=s0\n",
          "switch s0 is below two others" },
        { "SwitchName=s0 Nodes=n[0-2]\n", "node n3 is below no switch and in no block" },
        { "BlockName=b Nodes=n[0-2] BlockSize=3\n", "node n3 is below no switch and in no block" },
        { "BlockName=b Nodes=n[0-3]\nSwitchName=s Nodes=n[0-3]\n",
          "both switches and blocks: give one of them" },
        { "BlockName=b Nodes=n[0-3] BlockSize=4\n" SIZES(5, 6, 7, 8) SIZES(9, 10, 11, 12)
              SIZES(13, 14, 15, 16) SIZES(17, 18, 19, 20),
          "more than 16 block sizes" },
        { "SwitchName=s0 Nodes=n[0-\n", "'n[0-' is not a list of nodes such as n[1-3,08-11],m7" },
    };
    struct nuioa_network network;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(parse(wrong[i].text, "n[0-3]", &network), -EINVAL);
        assert_string_equal(err.text, wrong[i].said);
        assert_null(network.group);
    }
}

/* --- layouts --------------------------------------------------------------------------------- */

TEST(test_srun)
{
    const uint32_t room[] = { 1, 9, 2 };
    uint32_t tasks[3], node_of[8];
    assert_true(nuioa_layout_spread(8, 3, room, tasks));
    assert_true(tasks[0] == 1 && tasks[1] == 5 && tasks[2] == 2);
    assert_false(nuioa_layout_spread(13, 3, room, tasks));
    nuioa_layout_spread(8, 3, room, tasks);
    nuioa_layout_block(3, tasks, node_of);
    assert_memory_equal(node_of, ((uint32_t[]){ 0, 1, 1, 1, 1, 1, 2, 2 }), sizeof(node_of));
    nuioa_layout_cyclic(3, tasks, node_of);
    assert_memory_equal(node_of, ((uint32_t[]){ 0, 1, 2, 1, 2, 1, 1, 1 }), sizeof(node_of));
}

enum { RANKS_MAX = 12 };

/* Returns the node whose k-th rank has the place `place` among all k-th ranks. */
static uint32_t node_at(const uint32_t *node_of, uint32_t ranks, uint32_t k, uint32_t place)
{
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t before = 0;
        for (uint32_t j = 0; j < i; j++)
            before += node_of[j] == node_of[i];
        if (before == k && !place--)
            return node_of[i];
    }
    return UINT32_MAX;
}

/* test/cluster/66-han.t shows that Open MPI 5.0.7 gathers wrong data where this says "not safe". */
TEST(test_safe_orders)
{
    static const struct {
        uint32_t node_of[8];
        bool safe;
    } cases[] = {
        { { 0, 0, 1, 1, 2, 2, 3, 3 }, true },
        { { 0, 1, 2, 3, 0, 1, 2, 3 }, true },
        { { 3, 3, 1, 1, 0, 0, 2, 2 }, true },
        { { 2, 0, 3, 1, 2, 0, 3, 1 }, true },
        { { 0, 1, 2, 3, 3, 2, 1, 0 }, false },
        { { 0, 1, 2, 2, 1, 0, 3, 3 }, false },
        { { 0, 0, 1, 1, 0, 0, 1, 1 }, true },
        { { 1, 1, 0, 0, 0, 0, 1, 1 }, false },
        /* Nodes have unlike numbers of ranks: the first ones are wrong by themselves. */
        { { 0, 1, 1, 0, 2, 2, 2, 0 }, false },
        { { 0, 0, 1, 2, 2, 2, 3, 3 }, true },
        { { 0, 1, 2, 0, 2, 0, 2, 2 }, true },
        { { 0, 7, 1, 6, 2, 5, 3, 4 }, true },
        { { 5, 5, 5, 5, 5, 5, 5, 5 }, true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (nuioa_order_is_safe(cases[i].node_of, 8, 8) != cases[i].safe)
            fail_msg("case %zu", i);
    assert_true(nuioa_order_is_safe(NULL, 0, 0));
    /* The sentence in layout/order.h, read literally. */
    struct nuioa_random r = { 5 };
    for (int round = 0; round < 2000; round++) {
        uint32_t nodes = 1 + nuioa_random_below(&r, 3), each = 1 + nuioa_random_below(&r, 4);
        uint32_t node_of[RANKS_MAX], ranks = nodes * each;
        bool same = true;
        for (uint32_t i = 0; i < ranks; i++) {
            uint32_t k = nuioa_random_below(&r, i + 1);
            node_of[i] = node_of[k];
            node_of[k] = i / each;
        }
        for (uint32_t k = 1; k < each; k++)
            for (uint32_t place = 0; place < nodes; place++)
                same =
                    same && node_at(node_of, ranks, k, place) == node_at(node_of, ranks, 0, place);
        assert_true(nuioa_order_is_safe(node_of, ranks, nodes) == same);
    }
}

TEST(test_repeated_orders)
{
    uint32_t repeated[8];
    /* A square of 2 * 4 in unlike halves; the first one repeats to the right of itself. */
    const uint32_t halves[] = { 1, 1, 2, 2, 1, 1, 2, 2 }, mirror[] = { 0, 1, 2, 3, 3, 2, 1, 0 };
    const uint32_t unlike[] = { 2, 2, 0, 1, 0, 1, 1, 0 };
    assert_true(nuioa_order_repeat(halves, 8, 3, 1, repeated)); /* node 0 has no rank */
    assert_memory_equal(repeated, halves, sizeof(repeated));
    assert_false(nuioa_order_repeat(mirror, 8, 4, 0, repeated));
    assert_true(nuioa_order_repeat(mirror, 8, 4, 3, repeated));
    assert_memory_equal(repeated, ((uint32_t[]){ 0, 0, 2, 2, 3, 3, 1, 1 }), sizeof(repeated));
    assert_false(nuioa_order_repeat(unlike, 8, 3, 0, repeated));
}

struct search {
    uint32_t ranks, nodes;
    double bytes[RANKS_MAX][RANKS_MAX];
    const struct nuioa_network *network;
    uint32_t left[4], node_of[RANKS_MAX];
    double best;
};

/* All layouts, as long as they can be better than the best so far. */
static void search(struct search *s, uint32_t rank, double cost)
{
    if (cost >= s->best)
        return;
    if (rank == s->ranks)
        s->best = cost;
    for (uint32_t k = 0; k < s->nodes && rank < s->ranks; k++) {
        double more = cost;
        if (!s->left[k])
            continue;
        for (uint32_t i = 0; i < rank; i++)
            more += s->bytes[i][rank] * nuioa_network_distance(s->network, s->node_of[i], k);
        s->left[k]--;
        s->node_of[rank] = k;
        search(s, rank + 1, more);
        s->left[k]++;
    }
}

/* Makes a job of 8 to 12 ranks on 2 to 4 uneven nodes below 2 switches. */
static void make_job(struct nuioa_random *r, struct search *s, uint32_t *tasks,
                     struct nuioa_layout_traffic *t)
{
    s->ranks = 8 + nuioa_random_below(r, 5);
    s->nodes = 2 + nuioa_random_below(r, 3);
    for (uint32_t k = 0; k < s->nodes; k++)
        tasks[k] = 1;
    for (uint32_t i = s->nodes; i < s->ranks; i++)
        tasks[nuioa_random_below(r, s->nodes)]++;
    *t = (struct nuioa_layout_traffic){ .rank_count = s->ranks };
    t->pairs = calloc(RANKS_MAX * RANKS_MAX, sizeof(*t->pairs));
    memset(s->bytes, 0, sizeof(s->bytes));
    for (uint32_t i = 0; i < s->ranks; i++)
        for (uint32_t j = i + 1; j < s->ranks; j++)
            if (!nuioa_random_below(r, 3)) {
                double bytes = 1 + nuioa_random_below(r, 100);
                s->bytes[i][j] = bytes;
                t->pairs[t->pair_count++] = (struct nuioa_pair){ i, j, bytes };
                t->bytes += bytes;
            }
    t->all_bytes = t->bytes;
    memcpy(s->left, tasks, s->nodes * sizeof(*tasks));
}

/* The figures are held against the search, which knows nothing of mappers, and the layout against
 * the places. */
TEST(test_optimum)
{
    struct nuioa_random r = { 4711 };
    uint32_t optimal = 0, jobs = (uint32_t)rounds(200);
    for (uint32_t job = 0; job < jobs; job++) {
        static struct search s;
        struct nuioa_network network;
        struct nuioa_layout_traffic t;
        struct nuioa_layout l;
        uint32_t tasks[4], there[4] = { 0 };
        make_job(&r, &s, tasks, &t);
        char nodes[32];
        snprintf(nodes, sizeof(nodes), "n[0-%u]", s.nodes - 1);
        assert_int_equal(
            parse("SwitchName=s0 Nodes=n[0,2]\nSwitchName=s1 Nodes=n[1,3]\n", nodes, &network), 0);
        s.network = &network;
        assert_int_equal(nuioa_layout_make(&t, &network, tasks, &l), 0);
        s.best = l.layout.cost * (1 + 1e-9) + 1e-9;
        search(&s, 0, 0);
        optimal += s.best >= l.layout.cost * (1 - 1e-9);
        assert_float_equal(l.layout.cost, l.layout.off_node_bytes + l.layout.off_switch_bytes,
                           1e-6);
        assert_true(l.layout.cost <= l.block.cost && l.layout.cost <= l.cyclic.cost);
        for (uint32_t i = 0; i < s.ranks; i++)
            there[l.node_of[i]]++;
        assert_memory_equal(there, tasks, s.nodes * sizeof(*tasks));
        nuioa_layout_free(&l);
        nuioa_layout_traffic_free(&t);
        nuioa_network_free(&network);
    }
    assert_int_equal(optimal, jobs);
}

/* Pairs (i, i + n/2): block keeps none on a node, a layout all. In `coll` lines they do not
 * count. */
TEST(test_halves)
{
    enum { RANKS = 16 };
    struct nuioa_flow flows[RANKS];
    const struct nuioa_profile profile = { .rank_count = RANKS,
                                           .flow_count = RANKS,
                                           .flows = flows };
    const struct nuioa_network network = { .node_count = 4 };
    const uint32_t tasks[] = { 2, 4, 4, 6 };
    struct nuioa_layout_traffic t;
    struct nuioa_layout first, again;
    for (uint32_t i = 0; i < RANKS; i++)
        flows[i] = (struct nuioa_flow){ i, (i + RANKS / 2) % RANKS, .bytes = 100, .msgs = 1 };
    assert_int_equal(nuioa_layout_traffic_take(&profile, &t), 0);
    assert_int_equal(t.pair_count, RANKS / 2);
    assert_int_equal(nuioa_layout_make(&t, &network, tasks, &first), 0);
    assert_float_equal(first.block.off_node_bytes, 1600, 0);
    assert_float_equal(first.block.busiest_bytes, 1200, 0);
    assert_float_equal(first.layout.off_node_bytes, 0, 0);
    assert_true(first.use);
    assert_int_equal(nuioa_layout_make(&t, &network, tasks, &again), 0);
    assert_memory_equal(first.node_of, again.node_of, RANKS * sizeof(*first.node_of));
    nuioa_layout_free(&again);
    nuioa_layout_free(&first);
    nuioa_layout_traffic_free(&t);

    /* Little beside collectives is no reason. */
    uint32_t block[RANKS];
    flows[0].collective = true;
    flows[0].bytes = 1e6;
    assert_int_equal(nuioa_layout_traffic_take(&profile, &t), 0);
    assert_float_equal(t.bytes, 1500, 0);
    assert_float_equal(t.all_bytes, 1001500, 0);
    assert_int_equal(nuioa_layout_make(&t, &network, tasks, &first), 0);
    assert_false(first.use);
    nuioa_layout_block(4, tasks, block);
    assert_memory_equal(first.node_of, block, sizeof(block));
    nuioa_layout_free(&first);
    nuioa_layout_traffic_free(&t);
}

/* Makes a stencil of a square of side * side ranks, whose numbers are drawn at random. */
static void make_square(uint32_t side, struct nuioa_layout_traffic *t)
{
    struct nuioa_random r = { 99 };
    uint32_t n = side * side, *number = calloc(n, sizeof(*number));
    *t = (struct nuioa_layout_traffic){ .rank_count = n };
    t->pairs = calloc(2 * (size_t)n, sizeof(*t->pairs));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = nuioa_random_below(&r, i + 1);
        number[i] = number[k];
        number[k] = i;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t d = 1; d <= side; d += side - 1) {
            if (d == 1 ? i % side == side - 1 : i + side >= n)
                continue;
            uint32_t a = number[i], b = number[i + d];
            t->pairs[t->pair_count++] = (struct nuioa_pair){ a < b ? a : b, a < b ? b : a, 1 };
        }
    t->bytes = t->all_bytes = t->pair_count;
    free(number);
}

/* A square of 51 * 51 ranks on 51 nodes below 6 switches
 * below 2: with all nodes as strips of a line each, 49 % of the bytes leave their nodes. */
TEST(test_levels)
{
    enum { SIDE = 51 };
    char nodes[32], text[512] = "";
    uint32_t tasks[SIDE], there[SIDE] = { 0 };
    struct nuioa_network network;
    struct nuioa_layout_traffic t;
    struct nuioa_layout_figures block, figures;
    make_square(SIDE, &t);
    snprintf(nodes, sizeof(nodes), "n[0-%d]", SIDE - 1);
    for (int s = 0; s < 6; s++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "SwitchName=s%d Nodes=n[%d-%d]\n", s, s * 9, s < 5 ? s * 9 + 8 : SIDE - 1);
    strcat(text, "SwitchName=a Switches=s[0-2]\nSwitchName=b Switches=s[3-5]\n");
    assert_int_equal(parse(text, nodes, &network), 0);
    for (uint32_t k = 0; k < SIDE; k++)
        tasks[k] = SIDE + (k % 2 ? 1 : -1) * (k < SIDE - 1);
    static uint32_t node_of[SIDE * SIDE], again[SIDE * SIDE];
    assert_int_equal(nuioa_layout_assign_levels(&t, &network, tasks, 3000000, node_of), 0);
    for (uint32_t i = 0; i < t.rank_count; i++)
        there[node_of[i]]++;
    assert_memory_equal(there, tasks, sizeof(tasks));
    assert_int_equal(nuioa_layout_measure(&t, &network, node_of, &figures), 0);
    assert_true(figures.off_node_bytes < 0.2 * t.bytes);
    assert_true(figures.off_switch_bytes < 0.08 * t.bytes);
    nuioa_layout_block(SIDE, tasks, again);
    assert_int_equal(nuioa_layout_measure(&t, &network, again, &block), 0);
    assert_true(figures.cost < block.cost / 5);
    assert_int_equal(nuioa_layout_assign_levels(&t, &network, tasks, 3000000, again), 0);
    assert_memory_equal(node_of, again, sizeof(again));
    nuioa_layout_traffic_free(&t);
    nuioa_network_free(&network);
}

/* A box of 4 * 4 * 8 ranks has several best layouts on 8 nodes. The mappers find one that is not
 * safe, as long as they are what they are. */
TEST(test_safe_wins)
{
    enum { X = 8, Y = 4, Z = 4, RANKS = X * Y * Z };
    const uint32_t step[] = { 1, Z, Z * Y }, tasks[] = { 16, 16, 16, 16, 16, 16, 16, 16 };
    const struct nuioa_network network = { .node_count = 8 };
    struct nuioa_layout_traffic t = { .rank_count = RANKS };
    struct nuioa_layout layout;
    uint32_t found[RANKS];
    const char *mapper;
    t.pairs = calloc(3 * RANKS, sizeof(*t.pairs));
    for (uint32_t i = 0; i < RANKS; i++) {
        const bool further[] = { i % Z + 1 < Z, i / Z % Y + 1 < Y, i / (Z * Y) + 1 < X };
        for (int d = 0; d < 3; d++)
            if (further[d])
                t.pairs[t.pair_count++] = (struct nuioa_pair){ i, i + step[d], 2000 };
    }
    t.bytes = t.all_bytes = 2000.0 * t.pair_count;
    assert_int_equal(nuioa_layout_assign(&t, &network, tasks, NULL, 200000 * RANKS, found, &mapper),
                     0);
    assert_int_equal(nuioa_layout_make(&t, &network, tasks, &layout), 0);
    assert_true(layout.use && layout.safe);
    assert_true(nuioa_order_is_safe(layout.node_of, RANKS, 8));
    struct nuioa_layout_figures before;
    assert_int_equal(nuioa_layout_measure(&t, &network, found, &before), 0);
    assert_true(layout.layout.cost <= before.cost);
    nuioa_layout_free(&layout);
    nuioa_layout_traffic_free(&t);
}
