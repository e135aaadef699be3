/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COMM_H
#define NUIOA_MPI_TRACE_COMM_H

#include <mpi.h>
#include <stdbool.h>

/* The ranks of a communicator, or of a window's communicator. */
struct trace_ranks {
    int size; /* of the remote group of an intercommunicator */
    int me;
    bool inter;
    int world[]; /* [size]: ranks in MPI_COMM_WORLD; MPI_UNDEFINED: of another MPI_COMM_WORLD */
};

/* To be called once after MPI_Init. Returns an MPI error code. */
int trace_comm_open(void);

/* Return the ranks, which the communicator or window owns, or NULL if they cannot be found. */
const struct trace_ranks *trace_comm(MPI_Comm comm);
const struct trace_ranks *trace_window(MPI_Win window);

/* Returns the rank in MPI_COMM_WORLD, or MPI_UNDEFINED. */
int trace_world_rank(const struct trace_ranks *ranks, int rank);

#endif
