#ifndef NUIOA_MPI_TRACE_H
#define NUIOA_MPI_TRACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who sends what to whom, counted where it is sent (one-sided: where it is called), so each message
 * counts once and nothing is exchanged before the end. */

/* --- counters (trace_table.c): by rank in MPI_COMM_WORLD --- */

#define TRACE_LARGE 32768 /* bytes: as the profile's "large" */

enum trace_direction { TRACE_TO, TRACE_FROM };

struct trace_count {
    uint64_t bytes, msgs, large_bytes;
};

int trace_table_open(int rank_count, bool threads);
void trace_table_close(void);

/* `msgs` messages of `bytes` each. Any thread; ranks outside the table are ignored. */
void trace_add(enum trace_direction direction, int rank, uint64_t bytes, uint64_t msgs);

/* NULL if nothing was counted. */
const struct trace_count *trace_counted(enum trace_direction direction, int rank);

/* --- ranks (trace_comm.c) --- */

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

/* trace_point.c */
void trace_send(int dest, int count, MPI_Datatype type, MPI_Comm comm);
void trace_persistent(MPI_Request request, int dest, int count, MPI_Datatype type, MPI_Comm comm);
void trace_start(MPI_Request before, MPI_Request after);
void trace_forget(MPI_Request request);

/* trace_collective.c: the model is said there. `in_place`: the send arguments do not count. */
void trace_bcast(int count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_reduce(int count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_allreduce(int count, MPI_Datatype type, MPI_Comm comm);
void trace_scan(int count, MPI_Datatype type, MPI_Comm comm);
void trace_gather(bool in_place, int count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_scatter(int count, const int *counts, MPI_Datatype type, int root, MPI_Comm comm);
void trace_allgather(int recv_count, const int *recv_counts, MPI_Datatype type, MPI_Comm comm);
void trace_alltoall(int count, const int *counts, MPI_Datatype type, const MPI_Datatype *types,
                    MPI_Comm comm);
void trace_reduce_scatter(int count, const int *counts, MPI_Datatype type, MPI_Comm comm);

/* To each neighbour, by counts[] and types[] or, where these are NULL, the same to all. */
void trace_neighbours(int count, const int *counts, MPI_Datatype type, const MPI_Datatype *types,
                      MPI_Comm comm);

/* trace_window.c */
void trace_one_sided(enum trace_direction direction, int rank, int count, MPI_Datatype type,
                     MPI_Win window);
void trace_exchange(MPI_Op op, int rank, int count, MPI_Datatype type, int back,
                    MPI_Datatype back_type, MPI_Win window); /* there and back */

/* --- the whole (trace_job.c) --- */

void trace_begin(void);           /* after MPI_Init */
void trace_end(void);             /* before MPI_Finalize: gathers and writes */
void trace_cut_short(void);       /* before MPI_Abort: writes what this rank has, as partial */

#endif
