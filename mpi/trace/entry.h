/* SPDX-License-Identifier: BSD-3-Clause */

/* The entry points of one language: each calls the next function, then counts. The file that
 * includes it, once, defines what mpi/calls.h asks for, and:
 *
 *   NAME(c, fortran)  the name of an entry point
 *   PARAMETERS(...)   all parameters of an entry point
 *   ARGUMENTS(...)    all arguments of the next function
 *   RUN(name, ...)    calls the next function of this name, and declares `rc`, its result */

/* The body of an entry point. */
#define COUNTED(name, arguments, event) \
    bool outermost = trace_enter(__builtin_frame_address(0)); \
    RUN(name, arguments); \
    trace_leave(outermost); \
    if (rc == MPI_SUCCESS && outermost) \
        event; \
    return rc;

#define OWN(c, fortran)
/* clang-format off */
#define CALL(c, fortran, parameters, arguments, event) \
    int NAME(c, fortran)(PARAMETERS(parameters)) \
    { \
        COUNTED(NAME(c, fortran), ARGUMENTS(arguments), event) \
    }
/* clang-format on */
#define ONE_FORM CALL

int NAME(Abort, abort)(PARAMETERS(COMM comm, INT code))
{
    trace_cut_short();
    RUN(NAME(Abort, abort), ARGUMENTS(comm, code));
    return rc;
}

int NAME(Start, start)(PARAMETERS(REQUEST request))
{
    MPI_Request before = GET_REQUEST(*request);
    COUNTED(NAME(Start, start), ARGUMENTS(request), trace_start(before, GET_REQUEST(*request)))
}

int NAME(Startall, startall)(PARAMETERS(INT count, REQUEST requests))
{
    MPI_Request *before = trace_handles(GET(count));
    for (int i = 0; before && i < GET(count); i++)
        before[i] = GET_REQUEST(requests[i]);
    bool outermost = trace_enter(__builtin_frame_address(0));
    RUN(NAME(Startall, startall), ARGUMENTS(count, requests));
    trace_leave(outermost);
    for (int i = 0; before && i < GET(count) && rc == MPI_SUCCESS && outermost; i++)
        trace_start(before[i], GET_REQUEST(requests[i]));
    free(before);
    return rc;
}

int NAME(Request_free, request_free)(PARAMETERS(REQUEST request))
{
    /* As soon as it is free, another thread may get it. */
    trace_forget(GET_REQUEST(*request));
    RUN(NAME(Request_free, request_free), ARGUMENTS(request));
    return rc;
}

/* MPICH's functions for Fortran that have a buffer call those for C by their MPI_ names, where each
 * call is counted. The others may call PMPI functions, as all of Open MPI's do. */
#if !defined(FORTRAN) || defined(OPEN_MPI)
#include "mpi/calls.h"
#endif
