/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_TRACE_H
#define NUIOA_MPI_TRACE_TRACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What of MPI 4 this library has. Open MPI 5 calls itself 3.1, and counts by int only. */
#define TRACE_LARGE_COUNTS (MPI_VERSION >= 4)
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define TRACE_MPI_4 1
#else
#define TRACE_MPI_4 0
#endif

/* Who sends what to whom, counted where it is sent (one-sided: where it is called), so each message
 * counts once and nothing is exchanged before the end. */

/* --- counters (mpi/trace/table.c): by rank in MPI_COMM_WORLD --- */

#define TRACE_LARGE 32768 /* bytes: as the profile's "large" */

enum trace_direction { TRACE_TO, TRACE_FROM };

struct trace_count {
    uint64_t bytes, msgs, large_bytes;
};

int trace_table_open(int rank_count, bool threads);
void trace_table_close(void);

/* `msgs` messages of `bytes` each. Any thread; ranks outside the table are ignored. */
void trace_add(enum trace_direction direction, int rank, uint64_t bytes, uint64_t msgs);

/* What a persistent request sends each time it is started. */
struct trace_notes {
    struct trace_note {
        int rank;
        uint64_t bytes, msgs;
    } * list;
    uint32_t count, room;
};

/* Until it is called with NULL, what this thread sends is noted in *notes instead of counted. What
 * there is no memory for is lost. */
void trace_note(struct trace_notes *notes);
void trace_count_notes(const struct trace_notes *notes);
void trace_forget_notes(struct trace_notes *notes);

/* NULL if nothing was counted. */
const struct trace_count *trace_counted(enum trace_direction direction, int rank);

/* --- ranks (mpi/trace/comm.c) --- */

/* Of a communicator or window: ranks of others in MPI_COMM_WORLD. */
struct trace_ranks {
    int size; /* of the remote group, if there is one */
    int me;
    bool inter;
    int world[]; /* [size], MPI_UNDEFINED for a process of another world */
};

int trace_comm_open(void);
const struct trace_ranks *trace_comm(MPI_Comm comm); /* NULL: not to be known */
const struct trace_ranks *trace_window(MPI_Win window);
int trace_world_rank(const struct trace_ranks *ranks, int rank);

/* --- events: called after the MPI call has succeeded --- */

/* Numbers of elements are ints or, in the calls of MPI 4 whose names end with _c, MPI_Counts. */
struct trace_counts {
    MPI_Count all; /* the same for each part */
    const int *each;
    const MPI_Count *each_large; /* NULL, both: `all` */
};

static inline MPI_Count trace_part(const struct trace_counts *counts, int i)
{
    return counts->each         ? counts->each[i]
           : counts->each_large ? counts->each_large[i]
                                : counts->all;
}

static inline uint64_t trace_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count > 0)
        PMPI_Type_size_x(type, &size);
    return size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

/* mpi/trace/point.c */
void trace_send(int dest, MPI_Count count, MPI_Datatype type, MPI_Comm comm);

/* Around the event of a persistent request, which is counted whenever that is started. */
void trace_prepare(void);
void trace_prepared(MPI_Request request);
void trace_start(MPI_Request before, MPI_Request after);
void trace_forget(MPI_Request request);

/* mpi/trace/collective.c: the model is said there. `in_place`: the send arguments do not count. */
void trace_bcast(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_reduce(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_allreduce(MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void trace_scan(MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void trace_gather(bool in_place, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_scatter(struct trace_counts counts, MPI_Datatype type, int root, MPI_Comm comm);
void trace_allgather(struct trace_counts recv_counts, MPI_Datatype type, MPI_Comm comm);
void trace_reduce_scatter(struct trace_counts counts, MPI_Datatype type, MPI_Comm comm);

/* Each part is of types[] or, where that is NULL, of `type`. */
void trace_alltoall(struct trace_counts counts, MPI_Datatype type, const MPI_Datatype *types,
                    MPI_Comm comm);
void trace_neighbours(struct trace_counts counts, MPI_Datatype type, const MPI_Datatype *types,
                      MPI_Comm comm);

/* mpi/trace/window.c */
void trace_one_sided(enum trace_direction direction, int rank, MPI_Count count, MPI_Datatype type,
                     MPI_Win window);
void trace_exchange(MPI_Op op, int rank, MPI_Count count, MPI_Datatype type, MPI_Count back,
                    MPI_Datatype back_type, MPI_Win window); /* there and back */

/* --- the whole (mpi/trace/job.c) --- */

void trace_begin(void);     /* after MPI_Init */
void trace_end(void);       /* before MPI_Finalize: gathers and writes */
void trace_cut_short(void); /* before MPI_Abort: writes what this rank has, as partial */

#endif
