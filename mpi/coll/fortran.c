/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/fortran.h"
#include "mpi/coll/enter.h"

/* The Fortran entry points. MPICH's own call the C functions by their MPI_ names, except those that
 * start and end MPI. Open MPI's own do not, so here each of them calls the C function. */

void NAME(init)(fint ierr)
{
    REAL(init);
    call(ierr);
    if (*ierr == MPI_SUCCESS)
        coll_begin();
}

void NAME(init_thread)(fint required, fint provided, fint ierr)
{
    REAL(init_thread);
    call(required, provided, ierr);
    if (*ierr == MPI_SUCCESS)
        coll_begin();
}

void NAME(finalize)(fint ierr)
{
    REAL(finalize);
    coll_end();
    call(ierr);
}

#ifdef OPEN_MPI

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's counts are used as C's");

static void answer(int rc, fint ierr)
{
    if (ierr)
        *ierr = rc;
}

/* In Fortran, MPI_IN_PLACE and MPI_BOTTOM are the addresses of variables. */
static void *translate(void *buffer)
{
    static const void *in_place, *bottom;
    if (!in_place)
        in_place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    if (!bottom)
        bottom = dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_");
    if (buffer && buffer == in_place)
        return MPI_IN_PLACE;
    return buffer && buffer == bottom ? MPI_BOTTOM : buffer;
}

#define OUT translate(out)
#define IN translate(in)
#define COMM PMPI_Comm_f2c(*comm)
#define TYPE PMPI_Type_f2c(*type)
#define IN_TYPE PMPI_Type_f2c(*in_type)
#define OP PMPI_Op_f2c(*op)

void NAME(intercomm_merge)(fint inter, fint high, fint comm, fint ierr)
{
    MPI_Comm merged = MPI_COMM_NULL;
    int rc = MPI_Intercomm_merge(PMPI_Comm_f2c(*inter), *high, &merged);
    *comm = PMPI_Comm_c2f(merged);
    answer(rc, ierr);
}

void NAME(bcast)(void *in, fint count, fint type, fint root, fint comm, fint ierr)
{
    answer(MPI_Bcast(IN, *count, TYPE, *root, COMM), ierr);
}

void NAME(reduce)(void *out, void *in, fint count, fint type, fint op, fint root, fint comm,
                  fint ierr)
{
    answer(MPI_Reduce(OUT, IN, *count, TYPE, OP, *root, COMM), ierr);
}

void NAME(allreduce)(void *out, void *in, fint count, fint type, fint op, fint comm, fint ierr)
{
    answer(MPI_Allreduce(OUT, IN, *count, TYPE, OP, COMM), ierr);
}

void NAME(allgather)(void *out, fint count, fint type, void *in, fint in_count, fint in_type,
                     fint comm, fint ierr)
{
    answer(MPI_Allgather(OUT, *count, TYPE, IN, *in_count, IN_TYPE, COMM), ierr);
}

void NAME(allgatherv)(void *out, fint count, fint type, void *in, fint in_counts, fint displs,
                      fint in_type, fint comm, fint ierr)
{
    answer(MPI_Allgatherv(OUT, *count, TYPE, IN, in_counts, displs, IN_TYPE, COMM), ierr);
}

void NAME(gather)(void *out, fint count, fint type, void *in, fint in_count, fint in_type,
                  fint root, fint comm, fint ierr)
{
    answer(MPI_Gather(OUT, *count, TYPE, IN, *in_count, IN_TYPE, *root, COMM), ierr);
}

void NAME(gatherv)(void *out, fint count, fint type, void *in, fint in_counts, fint displs,
                   fint in_type, fint root, fint comm, fint ierr)
{
    answer(MPI_Gatherv(OUT, *count, TYPE, IN, in_counts, displs, IN_TYPE, *root, COMM), ierr);
}

void NAME(scatter)(void *out, fint count, fint type, void *in, fint in_count, fint in_type,
                   fint root, fint comm, fint ierr)
{
    answer(MPI_Scatter(OUT, *count, TYPE, IN, *in_count, IN_TYPE, *root, COMM), ierr);
}

void NAME(scatterv)(void *out, fint counts, fint displs, fint type, void *in, fint in_count,
                    fint in_type, fint root, fint comm, fint ierr)
{
    answer(MPI_Scatterv(OUT, counts, displs, TYPE, IN, *in_count, IN_TYPE, *root, COMM), ierr);
}

#endif
