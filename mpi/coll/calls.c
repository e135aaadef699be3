/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/allgather.h"
#include "mpi/coll/bcast.h"
#include "mpi/coll/enter.h"
#include "mpi/coll/gather.h"
#include "mpi/coll/job.h"
#include "mpi/coll/reduce.h"
#include "mpi/coll/scatter.h"
#include "mpi/coll/type.h"

/* The C entry points. A call with wrong arguments is passed on, so that the MPI library reports
 * it. */

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    if (rc == MPI_SUCCESS)
        coll_begin();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        coll_begin();
    return rc;
}

int MPI_Finalize(void)
{
    coll_end();
    return PMPI_Finalize();
}

int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *comm)
{
    coll_comm_allow_other_worlds();
    return PMPI_Intercomm_merge(inter, high, comm);
}

/* --- entering -------------------------------------------------------------------------------- */

/* Our own communicators return errors. The error handler of the program's communicator treats
 * them. */
static int report(MPI_Comm comm, int rc)
{
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(comm, rc);
    return rc;
}

static bool is_rank(MPI_Comm comm, int rank)
{
    int size = 0;
    return comm != MPI_COMM_NULL && PMPI_Comm_size(comm, &size) == MPI_SUCCESS && rank >= 0 &&
           rank < size;
}

static bool am_rank(MPI_Comm comm, int rank)
{
    int me = -1;
    return comm != MPI_COMM_NULL && PMPI_Comm_rank(comm, &me) == MPI_SUCCESS && me == rank;
}

#define LIST(...) __VA_ARGS__
#define BUFFERS(...) ((const struct coll_buffer[2]){ __VA_ARGS__ })
#define AT_ROOT(n) (am_rank(comm, root) ? (n) : 0)

/* Defines MPI_<name>. `known`: the bytes, if all ranks know them whatever their settings, else 0.
 * `bytes`: the bytes, which are the same on all ranks that have the same settings. `good`: the
 * arguments are correct and the call can be led; it is the same on all ranks. `buffers`: those that
 * this rank's call reads and writes. `run`: the call of the function that leads it. */
#define COLLECTIVE(name, which, parameters, arguments, known, bytes, good, buffers, run) \
    int MPI_##name(parameters) \
    { \
        struct coll_algorithm how; \
        uint64_t size = known; \
        struct coll_comm *c = coll_comm(comm, size); \
        if (c && (size = bytes) >= coll_job.least[which] && (good) && \
            coll_enter(c, which, size, buffers, &how)) \
            return report(comm, run); \
        return PMPI_##name(arguments); \
    }

/* --- of one buffer --------------------------------------------------------------------------- */

COLLECTIVE(Bcast, COLL_BCAST,
           LIST(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           LIST(buffer, count, type, root, comm), coll_bytes(count, type), size,
           is_rank(comm, root), BUFFERS({ buffer, count, type }),
           coll_bcast(c, &how, buffer, count, type, root))

COLLECTIVE(Reduce, COLL_REDUCE,
           LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm),
           LIST(out, in, count, type, op, root, comm), coll_bytes(count, type), size,
           coll_op_is_plain(op, type) && is_rank(comm, root),
           BUFFERS({ out, count, type }, { in, AT_ROOT(count), type }),
           coll_reduce(c, &how, out, in, count, type, op, root))

COLLECTIVE(Allreduce, COLL_ALLREDUCE,
           LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           LIST(out, in, count, type, op, comm), coll_bytes(count, type), size,
           out != in && coll_op_is_plain(op, type),
           BUFFERS({ out, count, type }, { in, count, type }),
           coll_allreduce(c, &how, out, in, count, type, op))

/* --- of equal blocks ------------------------------------------------------------------------- */

#define SAME_IN (&(struct coll_blocks){ true, in, in_count, NULL, NULL, in_type })
#define SAME_OUT (&(struct coll_blocks){ true, (void *)(uintptr_t)out, count, NULL, NULL, type })

COLLECTIVE(Allgather, COLL_ALLGATHER,
           LIST(const void *out, int count, MPI_Datatype type, void *in, int in_count,
                MPI_Datatype in_type, MPI_Comm comm),
           LIST(out, count, type, in, in_count, in_type, comm), coll_bytes(in_count, in_type), size,
           true, BUFFERS({ out, count, type }, { in, in_count, in_type }),
           coll_allgather(c, &how, out, count, type, SAME_IN))

/* With MPI_IN_PLACE the root's count and type for its own block have no meaning, so the root reads
 * those of the blocks of all ranks. */
COLLECTIVE(Gather, COLL_GATHER,
           LIST(const void *out, int count, MPI_Datatype type, void *in, int in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, count, type, in, in_count, in_type, root, comm), 0,
           coll_job.least[COLL_GATHER] == UINT64_MAX ? 0
           : am_rank(comm, root)                     ? coll_bytes(in_count, in_type)
                                                     : coll_bytes(count, type),
           is_rank(comm, root), BUFFERS({ out, count, type }, { in, AT_ROOT(in_count), in_type }),
           coll_gather(c, &how, out, count, type, SAME_IN, root))

COLLECTIVE(Scatter, COLL_SCATTER,
           LIST(const void *out, int count, MPI_Datatype type, void *in, int in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, count, type, in, in_count, in_type, root, comm), 0,
           coll_job.least[COLL_SCATTER] == UINT64_MAX ? 0
           : am_rank(comm, root)                      ? coll_bytes(count, type)
                                                      : coll_bytes(in_count, in_type),
           is_rank(comm, root), BUFFERS({ out, AT_ROOT(count), type }, { in, in_count, in_type }),
           coll_scatter(c, &how, SAME_OUT, in, in_count, in_type, root))

/* --- of blocks that differ ------------------------------------------------------------------- */

/* Returns the bytes of all blocks together, or 0 if a count is wrong. */
static uint64_t sum_of(const int *counts, MPI_Datatype type, MPI_Comm comm)
{
    int size = 0, inter = 1;
    uint64_t sum = 0;
    if (comm == MPI_COMM_NULL || !counts || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        inter || PMPI_Comm_size(comm, &size) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < size; i++) {
        if (counts[i] < 0)
            return 0;
        sum += (uint64_t)counts[i];
    }
    uint64_t each = coll_bytes(1, type);
    return each && sum <= UINT64_MAX / each ? sum * each : 0;
}

static uint64_t mean_of(const int *counts, MPI_Datatype type, MPI_Comm comm)
{
    int size = 1;
    uint64_t sum = sum_of(counts, type, comm);
    if (sum)
        PMPI_Comm_size(comm, &size);
    return (sum + (uint64_t)size - 1) / (uint64_t)size;
}

/* Returns the first block that is not empty, or none if the arguments are wrong. */
static struct coll_buffer first_of(const void *buffer, const int *counts, const int *displs,
                                   MPI_Datatype type, MPI_Comm comm)
{
    int size = 0, rank = 0;
    MPI_Aint low, extent = 0;
    if (counts && displs && coll_bytes(1, type))
        PMPI_Comm_size(comm, &size);
    while (rank < size && !counts[rank])
        rank++;
    if (rank == size)
        return (struct coll_buffer){ 0 };
    PMPI_Type_get_extent(type, &low, &extent);
    const char *first = buffer == MPI_BOTTOM ? NULL : (const char *)buffer + displs[rank] * extent;
    return (struct coll_buffer){ first, counts[rank], type };
}

#define ROOTS(block) (am_rank(comm, root) ? (block) : (struct coll_buffer){ 0 })
#define BLOCKS_IN (&(struct coll_blocks){ false, in, 0, in_counts, displs, in_type })
#define BLOCKS_OUT (&(struct coll_blocks){ false, (void *)(uintptr_t)out, 0, counts, displs, type })

COLLECTIVE(Allgatherv, COLL_ALLGATHERV,
           LIST(const void *out, int count, MPI_Datatype type, void *in, const int in_counts[],
                const int displs[], MPI_Datatype in_type, MPI_Comm comm),
           LIST(out, count, type, in, in_counts, displs, in_type, comm), 0,
           coll_job.least[COLL_ALLGATHERV] == UINT64_MAX ? 0 : mean_of(in_counts, in_type, comm),
           true, BUFFERS({ out, count, type }, first_of(in, in_counts, displs, in_type, comm)),
           coll_allgather(c, &how, out, count, type, BLOCKS_IN))

int MPI_Gatherv(const void *out, int count, MPI_Datatype type, void *in, const int in_counts[],
                const int displs[], MPI_Datatype in_type, int root, MPI_Comm comm)
{
    struct coll_algorithm how;
    struct coll_comm *c = coll_comm(comm, 0);
    if (!c || coll_job.least[COLL_GATHERV] == UINT64_MAX || !is_rank(comm, root) ||
        !coll_enter_told(
            c, COLL_GATHERV, root, AT_ROOT(sum_of(in_counts, in_type, comm)),
            BUFFERS({ out, count, type }, ROOTS(first_of(in, in_counts, displs, in_type, comm))),
            &how))
        return PMPI_Gatherv(out, count, type, in, in_counts, displs, in_type, root, comm);
    return report(comm, coll_gather(c, &how, out, count, type, BLOCKS_IN, root));
}

int MPI_Scatterv(const void *out, const int counts[], const int displs[], MPI_Datatype type,
                 void *in, int in_count, MPI_Datatype in_type, int root, MPI_Comm comm)
{
    struct coll_algorithm how;
    struct coll_comm *c = coll_comm(comm, 0);
    if (!c || coll_job.least[COLL_SCATTERV] == UINT64_MAX || !is_rank(comm, root) ||
        !coll_enter_told(
            c, COLL_SCATTERV, root, AT_ROOT(sum_of(counts, type, comm)),
            BUFFERS(ROOTS(first_of(out, counts, displs, type, comm)), { in, in_count, in_type }),
            &how))
        return PMPI_Scatterv(out, counts, displs, type, in, in_count, in_type, root, comm);
    return report(comm, coll_scatter(c, &how, BLOCKS_OUT, in, in_count, in_type, root));
}
