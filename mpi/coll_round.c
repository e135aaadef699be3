#include "coll_flow.h"

/* How this node stands in the round. */
struct seat {
    int count, index; /* of the nodes, from the root's on */
    int entry;        /* leads this node */
    int next, previous; /* leaders; -1: nothing is sent there, received from there */
};

static int leader_at(const struct coll_comm *c, int root, int index)
{
    int node = (index + (root < 0 ? 0 : c->map.node[root])) % c->map.node_count;
    return root < 0 ? coll_map_leader(&c->map, 0, node) : coll_tree_entry(&c->map, node, root, 0);
}

static struct seat find_seat(const struct coll_comm *c, const struct coll_round *round)
{
    struct seat seat = { .count = c->map.node_count };
    int from = round->root < 0 ? 0 : c->map.node[round->root];
    seat.index = (c->map.node[c->me] - from + seat.count) % seat.count;
    seat.entry = leader_at(c, round->root, seat.index);
    seat.next = leader_at(c, round->root, (seat.index + 1) % seat.count);
    seat.previous = leader_at(c, round->root, (seat.index + seat.count - 1) % seat.count);
    if (round->root_has_all && seat.index == seat.count - 1)
        seat.next = -1;
    if (round->root_has_all && seat.index == 0)
        seat.previous = -1;
    return seat;
}

int coll_flow_round(struct coll_comm *c, const struct coll_algorithm *how,
                    const struct coll_round *round)
{
    struct seat seat = find_seat(c, round);
    MPI_Request both[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    int rc = MPI_SUCCESS;
    for (int step = 0; step < seat.count && rc == MPI_SUCCESS; step++) {
        int part = (seat.index - round->first - step + 2 * seat.count) % seat.count;
        int before = (part + seat.count - 1) % seat.count;
        char *data = round->buffer + round->places[part];
        size_t size = round->places[part + 1] - round->places[part];
        if (c->me == seat.entry && step + 1 < seat.count) {
            if (seat.next >= 0)
                rc = PMPI_Isend(data, (int)size, MPI_BYTE, seat.next, COLL_TAG, c->own, &both[0]);
            if (seat.previous >= 0 && rc == MPI_SUCCESS)
                rc = PMPI_Irecv(round->buffer + round->places[before],
                                (int)(round->places[before + 1] - round->places[before]),
                                MPI_BYTE, seat.previous, COLL_TAG, c->own, &both[1]);
        }
        if (rc == MPI_SUCCESS)
            rc = coll_flow_node(c, how, seat.entry, data, size);
        int end = PMPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        rc = rc == MPI_SUCCESS ? end : rc;
    }
    return rc;
}
