/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COMM_H
#define NUIOA_MPI_TRACE_COMM_H

#include <mpi.h>
#include <stdbool.h>

/* The ranks of a communicator, or of a window's communicator. */
struct trace_ranks {
    struct trace_ranks *replaced; /* what another thread found at once; for comm.c only */
    int size;    /* number of ranks; in an intercommunicator, of its remote group */
    int me;      /* rank of this process; MPI_UNDEFINED for a window */
    bool inter;  /* an intercommunicator */
    int world[]; /* [size]: ranks in MPI_COMM_WORLD; MPI_UNDEFINED: of another MPI_COMM_WORLD */
};

/* Creates the attributes that keep the ranks. It is called once after MPI_Init, before the
 * functions below. Returns 0, or -1 if MPI reports an error. */
int trace_comm_open(void);

/* Returns the ranks of the communicator, or NULL if MPI does not tell them or there is no memory.
 * They belong to the communicator and live as long as it. Any thread may call it; it sends no
 * message. */
const struct trace_ranks *trace_comm(MPI_Comm comm);

/* Does the same for the ranks of a window, which belong to the window. */
const struct trace_ranks *trace_window(MPI_Win window);

/* Returns ranks->world[rank], the rank in MPI_COMM_WORLD of the process that has the number `rank`
 * in the communicator or window. Returns MPI_UNDEFINED if `rank` is not from 0 to ranks->size - 1,
 * or if `ranks` is NULL. */
int trace_world_rank(const struct trace_ranks *ranks, int rank);

#endif
