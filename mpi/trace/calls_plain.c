/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/counted.h"
#include "mpi/trace/trace.h"

/* The C entry points that take no numbers of elements, and so have one form only. */

/* --- start and end --------------------------------------------------------------------------- */

int MPI_Init(int *argc, char ***argv)
{
    COUNTED(PMPI_Init(argc, argv), trace_begin())
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    COUNTED(PMPI_Init_thread(argc, argv, required, provided), trace_begin())
}

int MPI_Finalize(void)
{
    trace_end();
    return PMPI_Finalize();
}

int MPI_Abort(MPI_Comm comm, int code)
{
    trace_cut_short();
    return PMPI_Abort(comm, code);
}

/* --- persistent requests --------------------------------------------------------------------- */

int MPI_Start(MPI_Request *request)
{
    MPI_Request before = *request;
    COUNTED(PMPI_Start(request), trace_start(before, *request))
}

/* The requests are started one by one: MPI may replace each handle, and the trace must know by
 * which other handle. */
int MPI_Startall(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = MPI_Start(&requests[i]);
    return rc;
}

int MPI_Request_free(MPI_Request *request)
{
    MPI_Request before = *request;
    COUNTED(PMPI_Request_free(request), trace_forget(before))
}

/* A partitioned send has parts that become ready one by one. It is counted as one message. */
#if TRACE_MPI_4
int MPI_Psend_init(const void *buffer, int parts, MPI_Count count, MPI_Datatype type, int dest,
                   int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    PREPARED(PMPI_Psend_init(buffer, parts, count, type, dest, tag, comm, info, request),
             trace_send(dest, parts * count, type, comm))
}
#endif

/* --- one-sided ------------------------------------------------------------------------------- */

int MPI_Fetch_and_op(const void *ours, void *result, MPI_Datatype type, int rank, MPI_Aint place,
                     MPI_Op op, MPI_Win window)
{
    COUNTED(PMPI_Fetch_and_op(ours, result, type, rank, place, op, window),
            trace_exchange(op, rank, 1, type, 1, type, window))
}

int MPI_Compare_and_swap(const void *ours, const void *compare, void *result, MPI_Datatype type,
                         int rank, MPI_Aint place, MPI_Win window)
{
    COUNTED(PMPI_Compare_and_swap(ours, compare, result, type, rank, place, window),
            trace_exchange(MPI_REPLACE, rank, 1, type, 1, type, window))
}
