/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "mpi/coll/table.h"

/* --- maps ------------------------------------------------------------------------------------ */

/* Each rank says: lowest rank of its node, NUMA node, level, place, rail. */
static struct coll_map make_map(int size, const struct coll_record *records)
{
    struct coll_map map;
    assert_int_equal(coll_map_room(&map, size), 0);
    memcpy(map.records, records, (size_t)size * sizeof(*records));
    coll_map_make(&map);
    return map;
}

#define NONE COLL_ORDER_UNKNOWN
#define SAYS(node, numa, level, place, rail, world) \
    { \
        node, numa, level, place, rail, world, { 0 }, 0, 0 \
    }

/* Two nodes, ranks dealt out in turns; the best leaders are the nodes' last ranks. */
static const struct coll_record dealt[] = {
    SAYS(0, 0, 1, 2, -1, 0), SAYS(1, 0, 1, 3, -1, 1), SAYS(0, 1, 0, 1, 0, 2),
    SAYS(1, 0, 1, 2, -1, 3), SAYS(0, 1, 0, 0, 1, 4),  SAYS(1, 1, 0, 1, -1, 5),
    SAYS(0, 2, 2, 3, -1, 6), SAYS(1, 1, 0, 0, 0, 7),
};

static void test_map(void **state)
{
    (void)state;
    struct coll_map map = make_map(8, dealt);
    assert_int_equal(map.node_count, 2);
    assert_int_equal(map.most, 4);
    assert_int_equal(map.rail_count, 1); /* node 1 has one */
    assert_true(map.advised);
    assert_false(map.blocks);
    static const int ranks[] = { 0, 2, 4, 6, 1, 3, 5, 7 };
    assert_memory_equal(map.ranks, ranks, sizeof(ranks));
    assert_int_equal(map.local[5], 2);
    assert_int_equal(coll_map_leader(&map, 0, 0), 4);
    assert_int_equal(coll_map_leader(&map, 0, 1), 7);
    assert_int_equal(coll_tree_entry(&map, 0, 6, 0), 6); /* the root leads its node */
    coll_map_clear(&map);
}

static void test_map_without_advice(void **state)
{
    (void)state;
    const struct coll_record records[] = {
        SAYS(0, 0, -1, NONE, -1, 0),
        SAYS(0, 0, -1, NONE, -1, 1),
        SAYS(2, 0, -1, NONE, -1, 2),
        SAYS(2, 0, -1, NONE, -1, 3),
    };
    struct coll_map map = make_map(4, records);
    assert_false(map.advised);
    assert_true(map.blocks);
    assert_int_equal(coll_map_leader(&map, 0, 1), 2);
    coll_map_clear(&map);
}

/* Each rank makes its map from what the others send: a record must not lead outside of it. */
static void test_records_without_sense(void **state)
{
    (void)state;
    const struct coll_record records[] = {
        SAYS(-5, 0, -1, NONE, -1, 0),        SAYS(1, 0, -1, NONE, -1, 1),
        SAYS(INT32_MAX, 0, 1, 0, 0, 2),      SAYS(1, 0, -1, NONE, -1, 3),
        SAYS(3, 0, -1, NONE, -1, INT32_MIN), SAYS(5, 0, -1, NONE, -1, 5),
    };
    struct coll_map map = make_map(6, records);
    static const int nodes[] = { 0, 1, 2, 1, 3, 4 };
    assert_memory_equal(map.node, nodes, sizeof(nodes));
    assert_int_equal(map.node_count, 5);
    coll_map_clear(&map);
}

static void test_rails(void **state)
{
    (void)state;
    struct coll_record records[8];
    memcpy(records, dealt, sizeof(records));
    records[3].rail = 1;
    struct coll_map map = make_map(8, records);
    assert_int_equal(map.rail_count, 2);
    assert_int_equal(coll_map_leader(&map, 0, 0), 2);
    assert_int_equal(coll_map_leader(&map, 1, 0), 4);
    assert_int_equal(coll_map_leader(&map, 0, 1), 7);
    assert_int_equal(coll_map_leader(&map, 1, 1), 3);
    coll_map_clear(&map);
}

static void test_walk(void **state)
{
    (void)state;
    const struct coll_record records[] = {
        SAYS(0, 3, 2, 6, -1, 0), SAYS(0, 1, 0, 0, -1, 1), SAYS(0, 2, 1, 3, -1, 2),
        SAYS(0, 1, 0, 1, -1, 3), SAYS(0, 3, 2, 5, -1, 4), SAYS(0, 2, 1, 4, -1, 5),
        SAYS(0, 1, 3, 2, -1, 6),
    };
    struct coll_map map = make_map(7, records);
    int walk[7];
    static const int first[] = { 1, 3, 6, 2, 5, 0, 4 }, last[] = { 1, 2, 5, 0, 4, 3, 6 };
    static const int other[] = { 5, 2, 1, 3, 6, 0, 4 };
    /* a NUMA node is as near as the nearest of its ranks: 6 says otherwise and stays */
    assert_int_equal(coll_map_walk(&map, -1, 1, false, walk), 7);
    assert_memory_equal(walk, first, sizeof(first));
    coll_map_walk(&map, -1, 1, true, walk);
    assert_memory_equal(walk, last, sizeof(last));
    coll_map_walk(&map, -1, 5, false, walk); /* an entry that is not beside the NIC */
    assert_memory_equal(walk, other, sizeof(other));
    coll_map_clear(&map);
}

/* A ring of NUMA nodes 0-1-3-2-0, two ranks on each; the NIC is at 1. */
static void test_walk_by_neighbours(void **state)
{
    (void)state;
    static const uint8_t rows[4][4] = {
        { 10, 20, 20, 30 }, { 20, 10, 30, 20 }, { 20, 30, 10, 20 }, { 30, 20, 20, 10 }
    };
    static const int levels[] = { 1, 0, 2, 1 };
    struct coll_record records[8];
    for (int i = 0; i < 8; i++) {
        records[i] = (struct coll_record)SAYS(0, i / 2, levels[i / 2], i, -1, i);
        memcpy(records[i].distance, rows[i / 2], sizeof(rows[0]));
    }
    struct coll_map map = make_map(8, records);
    int walk[8];
    static const int around[] = { 3, 0, 1, 4, 5, 6, 7, 2 }, after[] = { 7, 2, 0, 1, 4, 5, 6, 3 };
    assert_int_equal(coll_map_walk(&map, -1, 3, true, walk), 8);
    assert_memory_equal(walk, around, sizeof(around));
    assert_int_equal(coll_map_walk(&map, 7, 2, true, walk), 8); /* begins at 7, who hands over */
    assert_memory_equal(walk, after, sizeof(after));
    coll_map_clear(&map);
}

/* Four ranks on each of two nodes. */
static bool is_crowded(const int (*cpus)[2])
{
    struct coll_record records[8];
    for (int i = 0; i < 8; i++) {
        records[i] = (struct coll_record)SAYS(i / 4 * 4, 0, 0, i % 4, -1, i);
        records[i].cpu = cpus[i][0];
        records[i].cpu_count = cpus[i][1];
    }
    struct coll_map map = make_map(8, records);
    bool crowded = coll_map_is_crowded(&map);
    coll_map_clear(&map);
    return crowded;
}

static void test_crowds(void **state)
{
    (void)state;
    assert_false(is_crowded((const int[8][2]){ { 0 } })); /* not known */
    assert_false(is_crowded((const int[8][2]){
        { 0, 4 }, { 0, 4 }, { 0, 4 }, { 0, 4 }, { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1 } }));
    assert_false(is_crowded((const int[8][2]){ /* two NUMA nodes of two */
                                               { 0, 2 },
                                               { 0, 2 },
                                               { 2, 2 },
                                               { 2, 2 },
                                               { 0, 8 },
                                               { 0, 8 },
                                               { 0, 8 },
                                               { 0, 8 } }));
    assert_true(is_crowded((const int[8][2]){
        { 0, 8 }, { 0, 8 }, { 0, 8 }, { 0, 8 }, { 0, 3 }, { 0, 3 }, { 0, 3 }, { 0, 3 } }));
    assert_true(is_crowded((const int[8][2]){ /* 2 and 3 on one CPU */
                                              { 0, 1 },
                                              { 1, 1 },
                                              { 2, 1 },
                                              { 2, 1 },
                                              { 0, 4 },
                                              { 0, 4 },
                                              { 0, 4 },
                                              { 0, 4 } }));
}

/* --- trees ----------------------------------------------------------------------------------- */

static void assert_tree(const struct coll_map *map, enum coll_shape inter, enum coll_shape intra,
                        int root, int me, int parent, const char *children)
{
    struct coll_tree tree;
    char text[64] = "";
    assert_int_equal(coll_tree_make(&tree, map, inter, intra, root, 0, me), 0);
    assert_int_equal(tree.parent, parent);
    for (int i = 0; i < tree.child_count; i++)
        sprintf(text + strlen(text), "%s%d", i ? " " : "", tree.children[i]);
    assert_string_equal(text, children);
    coll_tree_clear(&tree);
}

static void test_shapes(void **state)
{
    (void)state;
    struct coll_record records[6];
    for (int i = 0; i < 6; i++)
        records[i] = (struct coll_record)SAYS(i, 0, 0, 0, -1, i);
    struct coll_map map = make_map(6, records); /* six nodes, so only their leaders */
    assert_tree(&map, SHAPE_LINEAR, SHAPE_CHAIN, 2, 2, -1, "3 4 5 0 1");
    assert_tree(&map, SHAPE_LINEAR, SHAPE_CHAIN, 2, 0, 2, "");
    assert_tree(&map, SHAPE_BINOMIAL, SHAPE_CHAIN, 2, 2, -1, "0 4 3");
    assert_tree(&map, SHAPE_BINOMIAL, SHAPE_CHAIN, 2, 0, 2, "1");
    assert_tree(&map, SHAPE_BINOMIAL, SHAPE_CHAIN, 2, 1, 0, "");
    assert_tree(&map, SHAPE_CHAIN, SHAPE_CHAIN, 2, 5, 4, "0");
    assert_tree(&map, SHAPE_CHAIN, SHAPE_CHAIN, 2, 1, 0, "");
    coll_map_clear(&map);

    map = make_map(8, dealt);
    assert_tree(&map, SHAPE_CHAIN, SHAPE_CHAIN, 0, 0, -1, "7 2"); /* other nodes first */
    assert_tree(&map, SHAPE_CHAIN, SHAPE_CHAIN, 0, 7, 0, "1");    /* its mate 5 comes last */
    assert_tree(&map, SHAPE_CHAIN, SHAPE_CHAIN, 0, 5, 3, "");
    assert_tree(&map, SHAPE_FLAT, SHAPE_LINEAR, 0, 6, 4, "7");  /* entered beside its NIC */
    assert_tree(&map, SHAPE_FLAT, SHAPE_LINEAR, 0, 7, 6, "5");  /* mates first here */
    assert_tree(&map, SHAPE_SPINE, SHAPE_CHAIN, 0, 0, -1, "4"); /* leaves through its leader */
    assert_tree(&map, SHAPE_SPINE, SHAPE_CHAIN, 0, 4, 0, "7 6");
    assert_tree(&map, SHAPE_SPINE, SHAPE_CHAIN, 0, 7, 4, "1");
    assert_tree(&map, SHAPE_SPINE, SHAPE_CHAIN, 4, 4, -1, "7 0"); /* the leader is the root */
    assert_tree(&map, SHAPE_SPINE, SHAPE_COMB, 0, 4, 0, "7 6");
    assert_tree(&map, SHAPE_CHAIN, SHAPE_COMB, 0, 7, 0, "1");
    assert_tree(&map, SHAPE_CHAIN, SHAPE_COMB, 0, 1, 7, "5 3"); /* the next NUMA node, then mates */
    assert_tree(&map, SHAPE_CHAIN, SHAPE_COMB, 0, 3, 1, "");
    assert_tree(&map, SHAPE_CHAIN, SHAPE_COMB, 0, 5, 1, "");
    assert_tree(&map, SHAPE_NONE, SHAPE_LINEAR, 4, 4, -1, "0 6 2"); /* nearest first, mates last */
    coll_map_clear(&map);
}

static unsigned next_random(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % below;
}

static struct coll_map random_map(unsigned *seed)
{
    int size = 1 + (int)next_random(seed, 40), nodes = 1 + (int)next_random(seed, 7);
    struct coll_record records[64];
    int lowest[8], rails[8] = { 0 };
    memset(lowest, -1, sizeof(lowest));
    for (int i = 0; i < size; i++) {
        int node = (int)next_random(seed, (unsigned)nodes);
        if (lowest[node] < 0)
            lowest[node] = i;
        records[i] = (struct coll_record){
            .node = lowest[node],
            .world = i,
            .numa = (int)next_random(seed, 4) - 1,
            .level = (int)next_random(seed, 3),
            .order = (int)next_random(seed, 1000),
            .rail = rails[node] < 2 ? rails[node]++ : -1,
        };
    }
    return make_map(size, records);
}

static bool lists(const int *ranks, int count, int rank)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += ranks[i] == rank;
    assert_in_range(found, 0, 1);
    return found;
}

/* Everybody gets it once, from somebody who knows; each other node is entered at its leader. */
static void check_tree(const struct coll_map *map, enum coll_shape inter, enum coll_shape intra,
                       int root, int rail)
{
    struct coll_tree trees[64];
    int entered[64] = { 0 }, edges = 0, steps;
    for (int i = 0; i < map->size; i++)
        assert_int_equal(coll_tree_make(&trees[i], map, inter, intra, root, rail, i), 0);
    for (int i = 0; i < map->size; i++) {
        struct coll_tree *tree = &trees[i];
        edges += tree->child_count + tree->reader_count;
        assert_true(tree->parent < 0 || tree->source < 0);
        assert_int_equal(tree->parent < 0 && tree->source < 0, i == root);
        if (tree->parent >= 0)
            assert_true(lists(trees[tree->parent].children, trees[tree->parent].child_count, i));
        if (tree->source >= 0) {
            assert_true(lists(trees[tree->source].readers, trees[tree->source].reader_count, i));
            assert_int_equal(map->node[tree->source], map->node[i]);
        }
        if (tree->parent >= 0 && map->node[tree->parent] != map->node[i]) {
            assert_int_equal(i, coll_map_leader(map, rail, map->node[i]));
            entered[map->node[i]]++;
        }
        int at = i;
        for (steps = 0; at != root && steps <= map->size; steps++)
            at = trees[at].parent >= 0 ? trees[at].parent : trees[at].source;
        assert_int_equal(at, root);
    }
    assert_int_equal(edges, map->size - 1);
    for (int node = 0; node < map->node_count; node++)
        assert_int_equal(entered[node], node != map->node[root]);
    for (int i = 0; i < map->size; i++)
        coll_tree_clear(&trees[i]);
}

static void test_any_tree_spans(void **state)
{
    (void)state;
    static const enum coll_shape inters[] = { SHAPE_LINEAR, SHAPE_BINOMIAL, SHAPE_CHAIN,
                                              SHAPE_SPINE, SHAPE_FLAT };
    static const enum coll_shape intras[] = { SHAPE_WINDOW, SHAPE_CHAIN, SHAPE_LINEAR,
                                              SHAPE_BINOMIAL, SHAPE_COMB };
    unsigned seed = 1;
    for (int round = 0; round < 300; round++) {
        struct coll_map map = random_map(&seed);
        int root = (int)next_random(&seed, (unsigned)map.size);
        for (int i = 0; i < 25; i++)
            for (int rail = 0; rail < map.rail_count; rail++)
                check_tree(&map, inters[i / 5], intras[i % 5], root, rail);
        coll_map_clear(&map);
    }
}

/* Shared memory: each other NUMA node reads the root's memory once. */
static void test_one_copy_for_each_numa_node(void **state)
{
    (void)state;
    unsigned seed = 2;
    for (int round = 0; round < 300; round++) {
        struct coll_map map = random_map(&seed);
        int entry = map.ranks[next_random(&seed, (unsigned)coll_map_count(&map, 0))];
        int across = 0, numas = 0, seen[5] = { 0 };
        enum coll_shape inter = round % 2 ? SHAPE_SPINE : SHAPE_CHAIN;
        for (int i = 0; i < coll_map_count(&map, 0); i++) {
            struct coll_tree tree;
            int rank = map.ranks[i], numa = map.records[rank].numa;
            if (numa != map.records[entry].numa && !seen[numa + 1]++)
                numas++;
            coll_tree_make(&tree, &map, inter, SHAPE_WINDOW, entry, 0, rank);
            if (tree.source >= 0 && map.records[tree.source].numa != numa) {
                assert_int_equal(tree.source, entry);
                across++;
            }
            coll_tree_clear(&tree);
        }
        assert_int_equal(across, numas);
        coll_map_clear(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_without_advice),
        cmocka_unit_test(test_records_without_sense),
        cmocka_unit_test(test_rails),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_walk_by_neighbours),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_any_tree_spans),
        cmocka_unit_test(test_one_copy_for_each_numa_node),
        cmocka_unit_test(test_crowds),
    };
    return cmocka_run_group_tests_name("coll", tests, NULL, NULL);
}
