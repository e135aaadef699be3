/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COUNTED_H
#define NUIOA_MPI_TRACE_COUNTED_H

#include "mpi/trace/next.h"

/* The body of a C entry point: it calls the next function and, if this succeeds, counts the
 * event. */
#define COUNTED(call, event) \
    bool outermost = trace_enter(__builtin_frame_address(0)); \
    int rc = call; \
    trace_leave(outermost); \
    if (rc == MPI_SUCCESS && outermost) \
        event; \
    return rc;

/* The same for a persistent request: its event is counted each time the request is started. */
#define PREPARED(call, event) COUNTED(call, (trace_prepare(), event, trace_prepared(*request)))

#endif
