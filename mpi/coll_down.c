#include <limits.h>
#include <stdlib.h>

#include "coll_flow.h"
#include "coll_memory.h"

#define SEGMENT_MAX (256u << 20)

size_t coll_flow_segment(const struct coll_algorithm *how, size_t bytes)
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
    uint64_t count;             /* segments */
    struct coll_window *window; /* NULL: no shared memory on this node */
    uint64_t base;              /* number of our first segment in the window */
    int room;                   /* children in the widest tree */
    MPI_Request receives[COLL_AHEAD];
    int ring;           /* segments whose sends are remembered */
    MPI_Request *sends; /* [ring][room] */
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
    return coll_window_slot(f->window, f->window->me, f->base + k);
}

/* Where others find segment k: leaders receive into shared memory. */
static char *place_of(const struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = tree_of(f, k);
    return tree->reader_count && tree->parent >= 0 ? slot_of(f, k) : private_of(f, k);
}

static MPI_Request *sends_of(const struct flow *f, uint64_t k)
{
    return f->sends + k % (uint64_t)f->ring * (uint64_t)f->room;
}

static int await_sends(struct flow *f, uint64_t k)
{
    return PMPI_Waitall(f->room, sends_of(f, k), MPI_STATUSES_IGNORE);
}

/* Segment k's slot was that of segment k - COLL_AHEAD, of which everything must be over. */
static int post_receive(struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = k < f->count ? tree_of(f, k) : NULL;
    int rc = MPI_SUCCESS;
    if (!tree || tree->parent < 0)
        return rc;
    if (tree->reader_count) {
        if (k >= COLL_AHEAD)
            rc = await_sends(f, k - COLL_AHEAD);
        coll_window_await_slot(f->window, f->base + k);
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Irecv(place_of(f, k), (int)size_of(f, k), MPI_BYTE, tree->parent, COLL_TAG,
                        f->c->own, &f->receives[k % COLL_AHEAD]);
    return rc;
}

static int pass_on(struct flow *f, uint64_t k)
{
    const struct coll_tree *tree = tree_of(f, k);
    int rc = await_sends(f, k); /* those of an earlier segment, in its place */
    MPI_Request *sends = sends_of(f, k);
    for (int i = 0; i < tree->child_count && rc == MPI_SUCCESS; i++)
        rc = PMPI_Isend(place_of(f, k), (int)size_of(f, k), MPI_BYTE, tree->children[i], COLL_TAG,
                        f->c->own, &sends[i]);
    return rc;
}

/* --- shared memory --------------------------------------------------------------------------- */

static void post(struct flow *f, uint64_t k)
{
    coll_flag_post(&coll_window_flags(f->window, f->window->me)->posted, f->base + k + 1);
}

/* From the rank that has it in its slot. Who has readers of its own makes a copy for them, on its
 * NUMA node. */
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

/* For those of the node, of a segment that this rank received or began with. */
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
    int rc = PMPI_Wait(&f->receives[k % COLL_AHEAD], MPI_STATUS_IGNORE);
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
        rc = post_receive(f, k + COLL_AHEAD - 1);
    return rc;
}

static int run(struct flow *f)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < COLL_AHEAD; i++)
        f->receives[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < f->ring * f->room; i++)
        f->sends[i] = MPI_REQUEST_NULL;
    for (uint64_t k = 0; k + 1 < COLL_AHEAD && rc == MPI_SUCCESS; k++)
        rc = post_receive(f, k);
    for (uint64_t k = 0; k < f->count && rc == MPI_SUCCESS; k++)
        rc = do_segment(f, k);
    int end = PMPI_Waitall(f->ring * f->room, f->sends, MPI_STATUSES_IGNORE);
    return rc == MPI_SUCCESS ? end : rc;
}

int coll_flow_down(struct coll_comm *c, const struct coll_tree *trees, int tree_count,
                   char *buffer, size_t bytes, size_t segment)
{
    struct flow f = { .c = c, .trees = trees, .tree_count = tree_count, .buffer = buffer,
                      .bytes = bytes, .segment = segment,
                      .count = (bytes + segment - 1) / segment };
    for (int i = 0; i < tree_count; i++) {
        if (trees[i].child_count > f.room)
            f.room = trees[i].child_count;
        if (trees[i].reader_count || trees[i].source >= 0)
            f.window = c->window;
    }
    f.ring = COLL_SENDS * tree_count;
    f.sends = malloc(((size_t)f.room * (size_t)f.ring + 1) * sizeof(*f.sends));
    if (!f.sends)
        return MPI_ERR_NO_MEM;
    if (f.window) {
        f.base = f.window->next;
        f.window->next += f.count;
    }
    int rc = run(&f);
    free(f.sends);
    return rc;
}

int coll_flow_node(struct coll_comm *c, const struct coll_algorithm *how, int entry, char *buffer,
                   size_t bytes)
{
    struct coll_tree tree;
    enum coll_shape intra = how->intra;
    if (coll_map_count(&c->map, c->map.node[c->me]) < 2 || !bytes)
        return MPI_SUCCESS;
    if (intra == SHAPE_WINDOW && !coll_comm_window(c))
        intra = SHAPE_CHAIN;
    if (coll_tree_make(&tree, &c->map, SHAPE_NONE, intra, entry, 0, c->me) < 0)
        return MPI_ERR_NO_MEM;
    int rc = coll_flow_down(c, &tree, 1, buffer, bytes, coll_flow_segment(how, bytes));
    coll_tree_clear(&tree);
    return rc;
}
