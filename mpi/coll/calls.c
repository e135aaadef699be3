/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/bcast.h"
#include "mpi/coll/enter.h"
#include "mpi/coll/job.h"
#include "mpi/coll/type.h"

/* The C entry points. A call with wrong arguments is passed on, so that the MPI library reports
 * it. */

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    if (rc == MPI_SUCCESS)
        coll_begin();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        coll_begin();
    return rc;
}

int MPI_Finalize(void)
{
    coll_end();
    return PMPI_Finalize();
}

int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *comm)
{
    coll_comm_allow_other_worlds();
    return PMPI_Intercomm_merge(inter, high, comm);
}

static bool is_rank(const struct coll_comm *c, int rank)
{
    return rank >= 0 && rank < c->size;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct coll_algorithm how;
    uint64_t bytes = coll_bytes(count, type);
    struct coll_comm *c = coll_comm(comm, bytes);
    if (!c || bytes < coll_job.least || !is_rank(c, root) ||
        !coll_enter(c, buffer, count, type, &how)) {
        coll_job_note(bytes < coll_job.least ? COLL_SMALL : COLL_FEW);
        return PMPI_Bcast(buffer, count, type, root, comm);
    }
    int rc = coll_bcast(c, &how, buffer, count, type, root);
    /* Our own communicators return errors. The error handler of the program's communicator treats
     * them. */
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(comm, rc);
    return rc;
}
