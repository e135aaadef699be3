/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COUNTED_H
#define NUIOA_MPI_TRACE_COUNTED_H

/* The body of a C entry point: it calls the MPI library and, if this succeeds, counts the event. */
#define COUNTED(call, event) \
    int rc = call; \
    if (rc == MPI_SUCCESS) \
        event; \
    return rc;

/* The same for a persistent request: its event is counted each time the request is started. */
#define PREPARED(call, event) \
    int rc = call; \
    if (rc == MPI_SUCCESS) { \
        trace_prepare(); \
        event; \
        trace_prepared(*request); \
    } \
    return rc;

#endif
