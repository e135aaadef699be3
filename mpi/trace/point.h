/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_POINT_H
#define NUIOA_MPI_TRACE_POINT_H

#include <mpi.h>

/* Counts a message to the rank `dest` of `comm`. Called after the MPI call has succeeded. */
void trace_send(int dest, MPI_Count count, MPI_Datatype type, MPI_Comm comm);

/* A persistent request is made between these two calls, with the event between them: this event is
 * counted each time the request is started. */
void trace_prepare(void);
void trace_prepared(MPI_Request request);

/* Counts a start of the request. MPI may have replaced the handle `before` by `after`. */
void trace_start(MPI_Request before, MPI_Request after);

/* The request is freed. */
void trace_forget(MPI_Request request);

#endif
