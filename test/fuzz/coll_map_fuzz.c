/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "mpi/coll/map.h"

/* The records that the ranks of a communicator send to each other. The input is the number of
 * ranks, and for each one a byte of flags and its record; or with flags only a few small numbers of
 * it. */

enum { RANKS_MAX = 48 };

static void read_record(struct input *in, struct coll_record *record, int rank)
{
    uint8_t how = input_byte(in);
    memset(record, 0, sizeof(*record));
    if (how & 1) {
        input_fill(in, record, sizeof(*record));
        return;
    }
    record->node = how & 2 ? rank : input_byte(in);
    record->numa = (int8_t)input_byte(in);
    record->level = (int8_t)input_byte(in);
    record->order = how & 4 ? COLL_ORDER_UNKNOWN : input_byte(in);
    record->rail = (int8_t)input_byte(in) % 10;
    record->cpu = input_byte(in);
    record->cpu_count = input_byte(in);
    if (how & 8)
        input_fill(in, record->distance, sizeof(record->distance));
}

static void walk(const struct coll_map *map)
{
    int *ranks = calloc((size_t)map->size, sizeof(*ranks));
    INPUT_CHECK(ranks != NULL);
    for (int rank = 0; rank < map->size; rank++)
        for (int last = 0; last < 2; last++) {
            int node = map->node[rank], first = map->ranks[map->first[node]];
            int count = coll_map_walk(map, first == rank ? -1 : first, rank, last, ranks);
            INPUT_CHECK(count == coll_map_count(map, node));
        }
    free(ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct coll_map map;
    int ranks = 1 + input_byte(&in) % RANKS_MAX;
    if (!INPUT_HOLDS(!coll_map_room(&map, ranks))) {
        coll_map_clear(&map);
        return 0;
    }
    for (int i = 0; i < ranks; i++)
        read_record(&in, &map.records[i], i);
    coll_map_make(&map);
    INPUT_CHECK(map.node_count >= 1 && map.rail_count >= 1 && map.rail_count <= COLL_RAIL_MAX);
    for (int node = 0; node < map.node_count; node++)
        for (int rail = 0; rail < map.rail_count; rail++)
            INPUT_CHECK(map.node[coll_map_leader(&map, rail, node)] == node);
    coll_map_is_crowded(&map);
    walk(&map);
    coll_map_clear(&map);
    return 0;
}
