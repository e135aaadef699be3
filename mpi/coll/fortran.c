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

/* In Fortran, MPI_BOTTOM is the address of a variable. */
static void *translate(void *buffer)
{
    static const void *bottom;
    if (!bottom)
        bottom = dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_");
    return buffer && buffer == bottom ? MPI_BOTTOM : buffer;
}

void NAME(intercomm_merge)(fint inter, fint high, fint comm, fint ierr)
{
    MPI_Comm merged = MPI_COMM_NULL;
    int rc = MPI_Intercomm_merge(PMPI_Comm_f2c(*inter), *high, &merged);
    *comm = PMPI_Comm_c2f(merged);
    answer(rc, ierr);
}

void NAME(bcast)(void *buffer, fint count, fint type, fint root, fint comm, fint ierr)
{
    answer(MPI_Bcast(translate(buffer), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm)),
           ierr);
}

#endif
