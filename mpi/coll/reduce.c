/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/coll/bcast.h"
#include "mpi/coll/device.h"
#include "mpi/coll/pipelined_bcast.h"
#include "mpi/coll/pipelined_reduce.h"
#include "mpi/coll/ring_allgather.h"
#include "mpi/coll/type.h"

/* In an allreduce one rank computes each element and the others get a copy of it. So all ranks have
 * the same bits as result. */

static int to_root(struct coll_comm *c, const struct coll_algorithm *how, enum coll_shape inter,
                   const struct coll_sum *sum, int root)
{
    struct coll_tree tree;
    enum coll_shape intra = how->intra;
    size_t bytes = (size_t)sum->count * (size_t)sum->extent;
    if (intra == SHAPE_WINDOW && inter != SHAPE_FLAT && !coll_comm_window(c))
        intra = SHAPE_CHAIN;
    if (coll_tree_make(&tree, &c->map, inter, intra, root, 0, c->me) < 0)
        return MPI_ERR_NO_MEM;
    int rc = coll_pipelined_reduce(c, &tree, sum, coll_pipelined_segment(how, bytes));
    coll_tree_clear(&tree);
    return rc;
}

static struct coll_sum sum_of(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op)
{
    struct coll_sum sum = {
        .own = out == MPI_IN_PLACE ? in : out,
        .into = in,
        .count = count,
        .type = type,
        .op = op,
    };
    MPI_Aint low;
    PMPI_Type_get_extent(type, &low, &sum.extent);
    return sum;
}

/* --- buffers in the memory of a GPU (see type.h) ---------------------------------------------- */

/* Copies the elements of *sum. MPI packs and unpacks them, because they may be a GPU's. */
static int copy(const struct coll_sum *sum, const char *from, char *to)
{
    char *packed = malloc(coll_bytes(sum->count, sum->type));
    int rc = packed ? coll_pack(from, sum->count, sum->type, packed) : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS)
        rc = coll_unpack(packed, to, sum->count, sum->type);
    free(packed);
    return rc;
}

/* Makes *host the reduction *sum, with copies of both buffers in *copies if one of them is a GPU's;
 * else *copies is NULL. The caller frees it. `writes`: this rank gets the result. */
static int take_to_host(const struct coll_sum *sum, bool writes, struct coll_sum *host,
                        char **copies)
{
    size_t bytes = (size_t)sum->count * (size_t)sum->extent;
    *host = *sum;
    *copies = NULL;
    if (!coll_device_holds(sum->own) && !(writes && coll_device_holds(sum->into)))
        return MPI_SUCCESS;
    *copies = malloc(2 * bytes);
    if (!*copies)
        return MPI_ERR_NO_MEM;
    host->own = *copies;
    host->into = *copies + (sum->own == sum->into ? 0 : bytes);
    return copy(sum, sum->own, *copies);
}

int coll_reduce(struct coll_comm *c, const struct coll_algorithm *how, const void *out, void *in,
                int count, MPI_Datatype type, MPI_Op op, int root)
{
    struct coll_sum sum = sum_of(out, in, count, type, op), host;
    char *copies;
    int rc = take_to_host(&sum, c->me == root, &host, &copies);
    if (rc == MPI_SUCCESS)
        rc = to_root(c, how, how->inter, &host, root);
    if (rc == MPI_SUCCESS && copies && c->me == root)
        rc = copy(&sum, host.into, sum.into);
    free(copies);
    return rc;
}

/* --- allreduce ------------------------------------------------------------------------------- */

static int by_trees(struct coll_comm *c, const struct coll_algorithm *how,
                    const struct coll_sum *sum)
{
    int root = coll_map_leader(&c->map, 0, 0);
    int rc = to_root(c, how, how->inter, sum, root);
    struct coll_algorithm down = *how;
    if (rc == MPI_SUCCESS)
        rc = coll_bcast(c, &down, sum->into, sum->count, sum->type, root);
    return rc;
}

/* Ring allreduce among the leaders (P. Patarasuk and X. Yuan, "Bandwidth Optimal All-reduce
 * Algorithms for Clusters of Workstations", JPDC 69(2), 2009), first half: a reduce-scatter. After
 * count - 1 steps each leader has the whole sum of one part. */
static int reduce_scatter(struct coll_comm *c, const struct coll_sum *sum, const int *firsts,
                          char *arrived)
{
    int count = c->map.node_count, index = c->map.node[c->me], rc = MPI_SUCCESS;
    int next = coll_map_leader(&c->map, 0, (index + 1) % count);
    int previous = coll_map_leader(&c->map, 0, (index + count - 1) % count);
    for (int step = 0; step + 1 < count && rc == MPI_SUCCESS; step++) {
        int give = (index - step + count) % count, take = (give + count - 1) % count;
        int given = firsts[give + 1] - firsts[give], taken = firsts[take + 1] - firsts[take];
        char *into = sum->into + firsts[take] * sum->extent;
        rc =
            PMPI_Sendrecv(sum->into + firsts[give] * sum->extent, given, sum->type, next, COLL_TAG,
                          arrived, taken, sum->type, previous, COLL_TAG, c->own, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS && taken)
            rc = PMPI_Reduce_local(arrived, into, taken, sum->type, sum->op);
    }
    return rc;
}

static int ring_of_leaders(struct coll_comm *c, const struct coll_algorithm *how,
                           const struct coll_sum *sum, int *firsts, size_t *displs)
{
    int count = c->map.node_count, index = c->map.node[c->me], rc = MPI_SUCCESS;
    for (int i = 0; i <= count; i++) {
        firsts[i] = (int)((int64_t)sum->count * i / count);
        displs[i] = (size_t)firsts[i] * (size_t)sum->extent;
    }
    if (c->me == coll_map_leader(&c->map, 0, index)) {
        char *arrived = malloc(((size_t)sum->count / (size_t)count + 1) * (size_t)sum->extent);
        rc = arrived ? reduce_scatter(c, sum, firsts, arrived) : MPI_ERR_NO_MEM;
        free(arrived);
    }
    /* The second half is an allgather: the leader of node i now has the sum of part i + 1. */
    struct coll_ring ring = { -1, -1, false, sum->into, displs };
    return rc == MPI_SUCCESS ? coll_ring_allgather(c, how, &ring) : rc;
}

static int by_ring(struct coll_comm *c, const struct coll_algorithm *how,
                   const struct coll_sum *sum)
{
    size_t count = (size_t)c->map.node_count;
    int *firsts = malloc((count + 1) * sizeof(*firsts));
    size_t *displs = malloc((count + 1) * sizeof(*displs));
    int rc = MPI_ERR_NO_MEM;
    if (firsts && displs)
        rc = to_root(c, how, SHAPE_NONE, sum, coll_map_leader(&c->map, 0, c->map.node[c->me]));
    if (rc == MPI_SUCCESS)
        rc = ring_of_leaders(c, how, sum, firsts, displs);
    free(firsts);
    free(displs);
    return rc;
}

int coll_allreduce(struct coll_comm *c, const struct coll_algorithm *how, const void *out, void *in,
                   int count, MPI_Datatype type, MPI_Op op)
{
    struct coll_sum sum = sum_of(out, in, count, type, op), host;
    char *copies;
    int rc = take_to_host(&sum, true, &host, &copies);
    if (rc == MPI_SUCCESS)
        rc = how->inter == SHAPE_RING ? by_ring(c, how, &host) : by_trees(c, how, &host);
    if (rc == MPI_SUCCESS && copies)
        rc = copy(&sum, host.into, sum.into);
    free(copies);
    return rc;
}
