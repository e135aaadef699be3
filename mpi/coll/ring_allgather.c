/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/ring_allgather.h"

#include "mpi/coll/pipelined_bcast.h"

/* Parts of fewer bytes are short: they cost the latency of each step more than time on the wire. In
 * a simulation of Bcast over 32 nodes (test/sim), Bruck's algorithm is 0.93 to 1.6 times as fast as
 * the ring for 64 KB, and slower for 128 KB. */
#define PART_SHORT 4096

/* The position of this node among all nodes, which are numbered from the root's node on. */
struct position {
    int count, index; /* the number of nodes, and the number of this node */
    int entry;        /* the rank that leads this node */
};

static int leader_at(const struct coll_comm *c, int root, int index)
{
    int node = (index + c->map.node[root]) % c->map.node_count;
    return coll_tree_entry(&c->map, node, root, 0);
}

static struct position find_position(const struct coll_comm *c, const struct coll_ring *ring)
{
    struct position position = { .count = c->map.node_count };
    position.index =
        (c->map.node[c->me] - c->map.node[ring->root] + position.count) % position.count;
    position.entry = leader_at(c, ring->root, position.index);
    return position;
}

/* `count` parts from `first` on. The first part of all follows the last one. */
struct parts {
    int first, count;
};

struct stretch {
    char *data;
    int bytes;
};

/* Finds the bytes of the parts, which are two stretches if they go over the end of the buffer. An
 * unused stretch has 0 bytes. */
static void find(const struct coll_ring *ring, int count, struct parts parts,
                 struct stretch *stretches)
{
    const size_t *displs = ring->displs;
    int end = parts.first + parts.count, over = end > count ? end - count : 0;
    stretches[0] = (struct stretch){ ring->buffer + displs[parts.first],
                                     (int)(displs[end - over] - displs[parts.first]) };
    stretches[1] = (struct stretch){ ring->buffer + displs[0], (int)(displs[over] - displs[0]) };
}

static int spread(struct coll_comm *c, const struct coll_algorithm *how,
                  const struct coll_ring *ring, int entry, struct parts parts)
{
    struct stretch two[2];
    int rc = MPI_SUCCESS;
    find(ring, c->map.node_count, parts, two);
    for (int i = 0; i < 2 && rc == MPI_SUCCESS; i++)
        rc = coll_pipelined_bcast_node(c, how, entry, two[i].data, (size_t)two[i].bytes);
    return rc;
}

/* One step of a leader: the parts that it sends and receives, and the leaders to which it sends and
 * from which it receives, by their numbers. */
struct move {
    struct parts give, take;
    int to, from;
};

static int begin(struct coll_comm *c, const struct coll_ring *ring, int index,
                 const struct move *move, MPI_Request *four)
{
    bool gives = move->to != 0, takes = index != 0; /* the root has all parts */
    int to = leader_at(c, ring->root, move->to), from = leader_at(c, ring->root, move->from);
    struct stretch out[2], in[2];
    int rc = MPI_SUCCESS;
    find(ring, c->map.node_count, move->give, out);
    find(ring, c->map.node_count, move->take, in);
    for (int i = 0; i < 2 && rc == MPI_SUCCESS; i++) {
        if (gives && out[i].bytes)
            rc = PMPI_Isend(out[i].data, out[i].bytes, MPI_BYTE, to, COLL_TAG, c->own, &four[i]);
        if (takes && in[i].bytes && rc == MPI_SUCCESS)
            rc =
                PMPI_Irecv(in[i].data, in[i].bytes, MPI_BYTE, from, COLL_TAG, c->own, &four[2 + i]);
    }
    return rc;
}

/* While the leaders exchange the next parts, the parts of the step before are broadcast in the
 * nodes. */
static int step(struct coll_comm *c, const struct coll_algorithm *how, const struct coll_ring *ring,
                const struct position *position, const struct move *move, struct parts fresh)
{
    MPI_Request four[4] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                            MPI_REQUEST_NULL };
    int rc = c->me == position->entry ? begin(c, ring, position->index, move, four) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = spread(c, how, ring, position->entry, fresh);
    int end = PMPI_Waitall(4, four, MPI_STATUSES_IGNORE);
    return rc == MPI_SUCCESS ? end : rc;
}

/* The ring algorithm sends to the next leader only, which matters when bandwidth dominates (Thakur,
 * Rabenseifner and Gropp 2005, section 4.1: see mpi/coll/tree.h). */
static int by_ring(struct coll_comm *c, const struct coll_algorithm *how,
                   const struct coll_ring *ring)
{
    struct position position = find_position(c, ring);
    int next = (position.index + 1) % position.count,
        previous = (position.index + position.count - 1) % position.count;
    struct parts fresh = { position.index, 1 };
    int rc = MPI_SUCCESS;
    for (int left = position.count - 1; left > 0 && rc == MPI_SUCCESS; left--) {
        struct parts take = { (fresh.first + position.count - 1) % position.count, 1 };
        struct move move = { fresh, take, next, previous };
        rc = step(c, how, ring, &position, &move, fresh);
        fresh = take;
    }
    return rc == MPI_SUCCESS ? spread(c, how, ring, position.entry, fresh) : rc;
}

/* J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, "Efficient Algorithms for All-to-All
 * Communications in Multiport Message-Passing Systems", IEEE TPDS 8(11), 1997. It has the fewest
 * steps, which matters as long as latency dominates: each step doubles the parts that a leader
 * has. It gets them from the leader that is so many numbers after it. */
static int by_bruck(struct coll_comm *c, const struct coll_algorithm *how,
                    const struct coll_ring *ring)
{
    struct position position = find_position(c, ring);
    struct parts fresh = { position.index, 1 };
    int rc = MPI_SUCCESS;
    for (int have = 1; have < position.count && rc == MPI_SUCCESS; have *= 2) {
        int more = have < position.count - have ? have : position.count - have;
        int next = (position.index + have) % position.count;
        int previous = (position.index + position.count - have) % position.count;
        struct move move = { { position.index, more }, { next, more }, previous, next };
        rc = step(c, how, ring, &position, &move, fresh);
        fresh = move.take;
    }
    return rc == MPI_SUCCESS ? spread(c, how, ring, position.entry, fresh) : rc;
}

int coll_ring_allgather(struct coll_comm *c, const struct coll_algorithm *how,
                        const struct coll_ring *ring)
{
    int count = c->map.node_count;
    bool is_short = ring->displs[count] < (size_t)count * PART_SHORT;
    return is_short ? by_bruck(c, how, ring) : by_ring(c, how, ring);
}
