/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/pipelined_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/coll/memory.h"
#include "mpi/coll/pipelined_bcast.h"

/* Each rank adds the data of its children to its own data, always in the same order, and sends the
 * sum to its parent. */

/* How many segments are received at a time, and how many sums are on the way to the parent. */
#define RING 2

struct flow {
    struct coll_comm *c;
    const struct coll_tree *tree;
    const struct coll_sum *sum;
    struct coll_window *window; /* NULL: no shared memory on this node */
    uint64_t base;
    int step, segments; /* elements of a segment; number of segments */
    size_t bytes;       /* bytes of a whole segment */
    char *arrived;      /* [RING][bytes] */
    char *sums;         /* [RING][bytes] */
    MPI_Request receives[RING], sends[RING];
};

static int count_of(const struct flow *f, int k)
{
    return k + 1 < f->segments ? f->step : f->sum->count - k * f->step;
}

static size_t offset_of(const struct flow *f, int k)
{
    return (size_t)k * f->bytes;
}

static size_t bytes_of(const struct flow *f, int k)
{
    return (size_t)count_of(f, k) * (size_t)f->sum->extent;
}

static bool is_top(const struct coll_tree *tree)
{
    return tree->parent < 0 && tree->source < 0;
}

/* Posts the receive with this number. They are numbered by segment, and for a segment by child. */
static int post_receive(struct flow *f, int number)
{
    int children = f->tree->child_count;
    if (!children || number >= f->segments * children)
        return MPI_SUCCESS;
    return PMPI_Irecv(f->arrived + (size_t)(number % RING) * f->bytes,
                      count_of(f, number / children), f->sum->type,
                      f->tree->children[number % children], COLL_TAG, f->c->own,
                      &f->receives[number % RING]);
}

static int add_children(struct flow *f, int k, char *total)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < f->tree->child_count && rc == MPI_SUCCESS; i++) {
        int number = k * f->tree->child_count + i;
        rc = PMPI_Wait(&f->receives[number % RING], MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Reduce_local(f->arrived + (size_t)(number % RING) * f->bytes, total,
                                   count_of(f, k), f->sum->type, f->sum->op);
        if (rc == MPI_SUCCESS)
            rc = post_receive(f, number + RING);
    }
    return rc;
}

static int add_readers(struct flow *f, int k, char *total)
{
    uint64_t number = f->base + (uint64_t)k;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < f->tree->reader_count && rc == MPI_SUCCESS; i++) {
        int local = f->c->map.local[f->tree->readers[i]];
        coll_flag_wait(&coll_window_flags(f->window, local)->posted, number + 1);
        rc = coll_fold(coll_window_slot(f->window, local, number), total, count_of(f, k),
                       f->sum->type, f->sum->op, local);
    }
    return rc;
}

/* Returns the address of this rank's sum of segment k, which begins as this rank's own data. */
static char *begin_sum(struct flow *f, int k)
{
    const char *own = f->sum->own + offset_of(f, k);
    if (is_top(f->tree)) {
        char *into = f->sum->into + offset_of(f, k);
        if (into != own)
            memcpy(into, own, bytes_of(f, k));
        return into;
    }
    if (f->tree->source >= 0) {
        uint64_t number = f->base + (uint64_t)k;
        char *slot = coll_window_slot(f->window, f->window->me, number);
        coll_window_await_slot(f->window, number);
        coll_copy(slot, own, bytes_of(f, k), f->window->me, COLL_IN);
        return slot;
    }
    if (!f->tree->child_count && !f->tree->reader_count)
        return (char *)(uintptr_t)own; /* it is sent as it is */
    char *sum = f->sums + (size_t)(k % RING) * f->bytes;
    memcpy(sum, own, bytes_of(f, k));
    return sum;
}

static int do_segment(struct flow *f, int k)
{
    int rc = PMPI_Wait(&f->sends[k % RING], MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS)
        return rc;
    char *total = begin_sum(f, k);
    rc = add_readers(f, k, total);
    if (rc == MPI_SUCCESS)
        rc = add_children(f, k, total);
    if (f->window) {
        struct coll_flags *flags = coll_window_flags(f->window, f->window->me);
        uint64_t number = f->base + (uint64_t)k + 1;
        if (f->tree->source >= 0)
            coll_flag_post(&flags->posted, number);
        coll_flag_post(&flags->taken, number);
    }
    if (rc == MPI_SUCCESS && f->tree->parent >= 0)
        rc = PMPI_Isend(total, count_of(f, k), f->sum->type, f->tree->parent, COLL_TAG, f->c->own,
                        &f->sends[k % RING]);
    return rc;
}

static int run(struct flow *f)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < RING; i++)
        f->receives[i] = f->sends[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < RING && rc == MPI_SUCCESS; i++)
        rc = post_receive(f, i);
    for (int k = 0; k < f->segments && rc == MPI_SUCCESS; k++)
        rc = do_segment(f, k);
    int end = PMPI_Waitall(RING, f->sends, MPI_STATUSES_IGNORE);
    return rc == MPI_SUCCESS ? end : rc;
}

int coll_pipelined_reduce(struct coll_comm *c, const struct coll_tree *tree,
                          const struct coll_sum *sum, size_t segment)
{
    struct flow f = { .c = c, .tree = tree, .sum = sum };
    f.step = (int)(segment / (size_t)sum->extent);
    if (f.step < 1)
        f.step = 1;
    if (f.step > sum->count)
        f.step = sum->count;
    f.segments = (sum->count - 1) / f.step + 1;
    f.bytes = (size_t)f.step * (size_t)sum->extent;
    if (tree->reader_count || tree->source >= 0) {
        f.window = c->window;
        f.base = f.window->next;
        f.window->next += (uint64_t)f.segments;
    }
    f.arrived = malloc(tree->child_count ? RING * f.bytes : 1);
    f.sums = malloc(tree->parent >= 0 ? RING * f.bytes : 1);
    int rc = f.arrived && f.sums ? run(&f) : MPI_ERR_NO_MEM;
    free(f.arrived);
    free(f.sums);
    return rc;
}
