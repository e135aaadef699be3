/* SPDX-License-Identifier: BSD-3-Clause */

/* A tool as Darshan or mpiP are: it has MPI functions that count and call the PMPI function, and at
 * the end each rank prints its counts, as "count RANK NAME N". MPI_Ssend is made of another MPI_X,
 * as some tools do. -DFORTRAN: it has Fortran's functions, too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    long init, finalize, send, ssend, isend, put, startall, bcast, allgather, fortran;
} calls;

#define COUNT(name, call) \
    __atomic_fetch_add(&calls.name, 1, __ATOMIC_RELAXED); \
    return call;

int MPI_Init(int *argc, char ***argv)
{
    COUNT(init, PMPI_Init(argc, argv))
}

int MPI_Finalize(void)
{
    COUNT(finalize, PMPI_Finalize())
}

/* srun may have this library, too, and is no rank. */
static void __attribute__((destructor)) print(void)
{
    const char *rank = getenv("SLURM_PROCID");
    if (!rank)
        return;
#define PRINT(name) printf("count %s " #name " %ld\n", rank, calls.name);
    PRINT(init)
    PRINT(finalize)
    PRINT(send)
    PRINT(ssend)
    PRINT(isend)
    PRINT(put)
    PRINT(startall)
    PRINT(bcast)
    PRINT(allgather)
    PRINT(fortran)
    fflush(stdout);
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    COUNT(send, PMPI_Send(data, count, type, to, tag, comm))
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    COUNT(isend, PMPI_Isend(data, count, type, to, tag, comm, request))
}

int MPI_Ssend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    calls.ssend++;
    int rc = MPI_Isend(data, count, type, to, tag, comm, &request);
    return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Put(const void *data, int count, MPI_Datatype type, int to, MPI_Aint place, int there,
            MPI_Datatype there_type, MPI_Win window)
{
    COUNT(put, PMPI_Put(data, count, type, to, place, there, there_type, window))
}

int MPI_Startall(int count, MPI_Request requests[])
{
    COUNT(startall, PMPI_Startall(count, requests))
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    COUNT(bcast, PMPI_Bcast(data, count, type, root, comm))
}

int MPI_Allgather(const void *data, int count, MPI_Datatype type, void *all, int all_count,
                  MPI_Datatype all_type, MPI_Comm comm){
    COUNT(allgather, PMPI_Allgather(data, count, type, all, all_count, all_type, comm))
}

#ifdef FORTRAN
#ifdef OPEN_MPI
#define F08(S) S(_f08_)
#else /* MPICH's call the functions above */
#define F08(S)
#endif
#define FUNCTIONS(end) \
    void pmpi_isend##end(void *, void *, void *, void *, void *, void *, void *, void *); \
    void mpi_isend##end(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h) \
    { \
        calls.fortran++; \
        pmpi_isend##end(a, b, c, d, e, f, g, h); \
    } \
    void pmpi_bcast##end(void *, void *, void *, void *, void *, void *); \
    void mpi_bcast##end(void *a, void *b, void *c, void *d, void *e, void *f) \
    { \
        calls.fortran++; \
        pmpi_bcast##end(a, b, c, d, e, f); \
    }
FUNCTIONS(_) F08(FUNCTIONS)
#endif
