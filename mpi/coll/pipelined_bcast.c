/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/pipelined_bcast.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/coll/memory.h"

#define SEGMENT_MAX (256u << 20)

size_t coll_pipelined_segment(const struct coll_algorithm *how, size_t bytes)
{
    size_t segment = how->segment_bytes ? how->segment_bytes : bytes;
    size_t most = how->intra == SHAPE_WINDOW ? COLL_SLOT_BYTES : SEGMENT_MAX;
    if (segment > most)
        segment = most;
    return segment ? segment : 1;
}

struct flow {
    struct coll_comm *c;
    const struct coll_tree *trees;
    int tree_count;
    char *buffer;
    size_t bytes, segment;
    uint64_t count;             /* number of segments */
    struct coll_window *window; /* NULL: no shared memory on this node */
    uint64_t base;              /* the number that the window gives to segment 0 */
    int room;                   /* number of children in the widest tree */
    bool in_order;              /* false: each tree at its own pace, with all receives posted */
    uint64_t ahead;             /* how many receives are posted at a time */
    MPI_Request *receives;      /* [ahead] */
    int ring;                   /* how many segments have requests in `sends` */
    MPI_Request *sends;         /* [ring][room] */
};

static const struct coll_tree *tree_of(const struct flow *f, uint64_t k)
{
    return &f->trees[k % (uint64_t)f->tree_count];
}

static char *private_of(const struct flow *f, uint64_t k)
{
    return f->buffer + k * f->segment;
}

static size_t size_of(const struct flow *f, uint64_t k)
{
    return k + 1 < f->count ? f->segment : f->bytes - k * f->segment;
}

static char *slot_of(const struct flow *f, uint64_t k)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a flow with slots has a window. */
    return coll_window_slot(f->window, f->window->me, f->base + k);
}

/* Returns the address from which segment k is sent on. A rank that has readers receives it into
 * shared memory, other ranks into their own buffer. */
static char *address_of(const struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = tree_of(f, k);
    return tree->reader_count && tree->parent >= 0 ? slot_of(f, k) : private_of(f, k);
}

static MPI_Request *sends_of(const struct flow *f, uint64_t k)
{
    return f->sends + k % (uint64_t)f->ring * (uint64_t)f->room;
}

static MPI_Request *receive_of(struct flow *f, uint64_t k)
{
    return &f->receives[k % f->ahead];
}

/* Each tree has its own tag, because the segments of one may overtake those of another. */
static int tag_of(const struct flow *f, uint64_t k)
{
    return COLL_TAG + (int)(k % (uint64_t)f->tree_count);
}

static int await_sends(struct flow *f, uint64_t k)
{
    return PMPI_Waitall(f->room, sends_of(f, k), MPI_STATUSES_IGNORE);
}

/* Posts the receive of segment k. Its slot was that of segment k - COLL_AHEAD, so all sends and
 * reads of that segment must be over. */
static int post_receive(struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = k < f->count ? tree_of(f, k) : NULL;
    int rc = MPI_SUCCESS;
    if (!tree || tree->parent < 0)
        return rc;
    if (tree->reader_count) {
        if (k >= COLL_AHEAD && f->ring > 1) /* else pass_on has waited for these sends already */
            rc = await_sends(f, k - COLL_AHEAD);
        coll_window_await_slot(f->window, f->base + k);
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Irecv(address_of(f, k), (int)size_of(f, k), MPI_BYTE, tree->parent, tag_of(f, k),
                        f->c->own, receive_of(f, k));
    return rc;
}

static int send(struct flow *f, uint64_t k, int to, MPI_Request *request)
{
    size_t bytes = size_of(f, k);
    return (bytes < COLL_DIRECT_BYTES ? PMPI_Isend : PMPI_Issend)(
        address_of(f, k), (int)bytes, MPI_BYTE, to, tag_of(f, k), f->c->own, request);
}

static int pass_on(struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = tree_of(f, k);
    int rc = await_sends(f, k); /* the requests are still those of an earlier segment */
    MPI_Request *sends = sends_of(f, k);
    for (int i = 0; i < tree->child_count && rc == MPI_SUCCESS; i++)
        rc = send(f, k, tree->children[i], &sends[i]);
    return rc;
}

/* --- shared memory --------------------------------------------------------------------------- */

static void post(struct flow *f, uint64_t k)
{
    coll_flag_post(&coll_window_flags(f->window, f->window->me)->posted, f->base + k + 1);
}

/* Reads the segment from the slot of the rank that has it. If this rank has readers, it first makes
 * a copy for them on its own NUMA node. */
static void read_segment(struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = tree_of(f, k);
    int owner = f->c->map.local[tree->source], me = f->window->me;
    const char *from = coll_window_slot(f->window, owner, f->base + k);
    if (tree->reader_count)
        coll_window_await_slot(f->window, f->base + k);
    coll_flag_wait(&coll_window_flags(f->window, owner)->posted, f->base + k + 1);
    if (tree->reader_count) {
        coll_copy(slot_of(f, k), from, size_of(f, k), owner, COLL_ACROSS);
        post(f, k);
        from = slot_of(f, k);
        owner = me;
    }
    coll_copy(private_of(f, k), from, size_of(f, k), owner, COLL_OUT);
}

/* Gives the readers a segment that this rank has received, or that it has as the root. */
static void offer_segment(struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = tree_of(f, k);
    if (!tree->reader_count)
        return;
    if (tree->parent < 0) {
        coll_window_await_slot(f->window, f->base + k);
        coll_copy(slot_of(f, k), private_of(f, k), size_of(f, k), f->window->me, COLL_IN);
    }
    post(f, k);
}

static void take_out(struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = tree_of(f, k);
    if (tree->reader_count && tree->parent >= 0)
        coll_copy(private_of(f, k), slot_of(f, k), size_of(f, k), f->window->me, COLL_OUT);
}

/* --- one segment after the other ------------------------------------------------------------- */

static int do_segment(struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = tree_of(f, k);
    int rc = PMPI_Wait(receive_of(f, k), MPI_STATUS_IGNORE);
    if (tree->source >= 0) {
        read_segment(f, k);
        rc = pass_on(f, k);
    } else if (rc == MPI_SUCCESS) {
        rc = pass_on(f, k);
        offer_segment(f, k);
        take_out(f, k);
    }
    if (f->window)
        coll_flag_post(&coll_window_flags(f->window, f->window->me)->taken, f->base + k + 1);
    if (rc == MPI_SUCCESS)
        rc = post_receive(f, k + f->ahead - 1);
    return rc;
}

/* Returns the tree whose next segment has arrived. For a root, which receives nothing, returns the
 * tree that has made the least progress. */
static int next_tree(struct flow *f, const uint64_t *next)
{
    MPI_Request heads[COLL_RAIL_MAX];
    int behind = 0, come;
    for (int i = 0; i < f->tree_count; i++) {
        heads[i] = next[i] < f->count ? *receive_of(f, next[i]) : MPI_REQUEST_NULL;
        if (next[i] < next[behind])
            behind = i;
    }
    if (PMPI_Waitany(f->tree_count, heads, &come, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        come == MPI_UNDEFINED)
        return behind;
    *receive_of(f, next[come]) = MPI_REQUEST_NULL;
    return come;
}

/* Treats the segments of several trees as they arrive. In a fixed order, a rank that is early in
 * one tree and late in another would delay both. There is no deadlock, because all receives are
 * posted before a message is sent. */
static int do_as_they_come(struct flow *f)
{
    uint64_t next[COLL_RAIL_MAX];
    int rc = MPI_SUCCESS;
    for (int i = 0; i < f->tree_count; i++)
        next[i] = (uint64_t)i;
    for (uint64_t done = 0; done < f->count && rc == MPI_SUCCESS; done++) {
        int tree = next_tree(f, next);
        /* The number of a tree comes from next_tree.
         * NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        rc = do_segment(f, next[tree]);
        next[tree] += (uint64_t)f->tree_count;
    }
    return rc;
}

static int run(struct flow *f)
{
    int rc = MPI_SUCCESS;
    for (uint64_t k = 0; k < f->ahead; k++)
        f->receives[k] = MPI_REQUEST_NULL;
    for (int i = 0; i < f->ring * f->room; i++)
        f->sends[i] = MPI_REQUEST_NULL;
    for (uint64_t k = 0; k + 1 < f->ahead && rc == MPI_SUCCESS; k++)
        rc = post_receive(f, k);
    if (!f->in_order && rc == MPI_SUCCESS)
        rc = do_as_they_come(f);
    for (uint64_t k = 0; f->in_order && k < f->count && rc == MPI_SUCCESS; k++)
        rc = do_segment(f, k);
    int end = PMPI_Waitall(f->ring * f->room, f->sends, MPI_STATUSES_IGNORE);
    return rc == MPI_SUCCESS ? end : rc;
}

int coll_pipelined_bcast(struct coll_comm *c, const struct coll_tree *trees, int tree_count,
                         const struct coll_algorithm *how, char *buffer, size_t bytes)
{
    size_t segment = coll_pipelined_segment(how, bytes);
    struct flow f = {
        .c = c,
        .trees = trees,
        .tree_count = tree_count,
        .buffer = buffer,
        .bytes = bytes,
        .segment = segment,
        .count = (bytes + segment - 1) / segment,
    };
    for (int i = 0; i < tree_count; i++) {
        if (trees[i].child_count > f.room)
            f.room = trees[i].child_count;
        if (trees[i].reader_count || trees[i].source >= 0)
            f.window = c->window;
    }
    f.ring = COLL_SENDS * tree_count;
    f.in_order = how->intra == SHAPE_WINDOW || tree_count == 1; /* this is the same on all nodes */
    f.ahead = f.in_order ? COLL_AHEAD : f.count + 1;
    f.receives = malloc((f.ahead + (size_t)(f.room * f.ring)) * sizeof(*f.receives));
    if (!f.receives)
        return MPI_ERR_NO_MEM;
    f.sends = f.receives + f.ahead;
    if (f.window) {
        f.base = f.window->next;
        f.window->next += f.count;
    }
    int rc = run(&f);
    free(f.receives);
    return rc;
}

int coll_pipelined_bcast_node(struct coll_comm *c, const struct coll_algorithm *how, int entry,
                              char *buffer, size_t bytes)
{
    struct coll_tree tree;
    enum coll_shape intra = how->intra;
    if (coll_map_count(&c->map, c->map.node[c->me]) < 2 || !bytes)
        return MPI_SUCCESS;
    if (intra == SHAPE_WINDOW && !coll_comm_window(c))
        intra = SHAPE_CHAIN;
    if (coll_tree_make(&tree, &c->map, SHAPE_NONE, intra, entry, 0, c->me) < 0)
        return MPI_ERR_NO_MEM;
    int rc = coll_pipelined_bcast(c, &tree, 1, how, buffer, bytes);
    coll_tree_clear(&tree);
    return rc;
}
