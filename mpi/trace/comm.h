/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COMM_H
#define NUIOA_MPI_TRACE_COMM_H

#include <mpi.h>
#include <stdbool.h>

/* The ranks of a communicator, or of a window's communicator. */
struct trace_ranks {
    int size; /* of the remote group of an intercommunicator */
    int me;   /* rank of this process; MPI_UNDEFINED for a window */
    bool inter;
    int world[]; /* [size]: ranks in MPI_COMM_WORLD; MPI_UNDEFINED: of another MPI_COMM_WORLD */
};

/* Call this once after MPI_Init, before the functions below. Returns 0, or -1 if MPI reports an
 * error. */
int trace_comm_open(void);

/* Return the ranks, which live as long as the communicator or window, or NULL if they cannot be
 * found. The caller must not free them. */
const struct trace_ranks *trace_comm(MPI_Comm comm);
const struct trace_ranks *trace_window(MPI_Win window);

/* Returns the rank in MPI_COMM_WORLD of `rank`, which is one of `ranks`. Returns MPI_UNDEFINED if
 * there is no such rank, or if `ranks` is NULL. */
int trace_world_rank(const struct trace_ranks *ranks, int rank);

#endif
