/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COUNTED_H
#define NUIOA_MPI_TRACE_COUNTED_H

/* The body of a C entry point: the library's call and, if that succeeds, the event. */
#define COUNTED(call, event) \
    int rc = call; \
    if (rc == MPI_SUCCESS) \
        event; \
    return rc;

/* Likewise, of a persistent request: the event is that of each start. */
#define PREPARED(call, event) \
    int rc = call; \
    if (rc == MPI_SUCCESS) { \
        trace_prepare(); \
        event; \
        trace_prepared(*request); \
    } \
    return rc;

#endif
