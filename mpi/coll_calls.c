#include "coll.h"
#include "coll_type.h"

/* The C entry points. What cannot be right is left to the MPI library, which says so. */

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    if (rc == MPI_SUCCESS)
        coll_job_begin();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        coll_job_begin();
    return rc;
}

int MPI_Finalize(void)
{
    coll_job_end();
    return PMPI_Finalize();
}

/* Our own communicators return errors; the program's decides what becomes of them. */
static int report(MPI_Comm comm, int rc)
{
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(comm, rc);
    return rc;
}

/* Declares `c`, the state to run on, and `how`; else makes the call as it is. */
#define ENTER(collective, bytes, call) \
    uint64_t size = bytes; \
    struct coll_algorithm how; \
    if (__builtin_expect(size < coll_job.least[collective], 1)) \
        return call; \
    struct coll_comm *c = coll_enter(collective, comm, size, &how); \
    if (!c) \
        return call

static bool is_rank(MPI_Comm comm, int root)
{
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return root >= 0 && root < size;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    ENTER(COLL_BCAST, coll_bytes(count, type), PMPI_Bcast(buffer, count, type, root, comm));
    if (!is_rank(comm, root))
        return PMPI_Bcast(buffer, count, type, root, comm);
    return report(comm, coll_bcast(c, &how, buffer, count, type, root));
}
