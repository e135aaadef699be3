/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/fortran08.h"
#include "mpi/trace/trace.h"

#ifdef OPEN_MPI
#include "mpi/trace/fortran.c"
#else

void mpi_abort_f08_(const MPI_Fint *comm, const MPI_Fint *code, MPI_Fint *ierr)
{
    answer(MPI_Abort(PMPI_Comm_f2c(*comm), *code), ierr);
}

#endif
