/* SPDX-License-Identifier: BSD-3-Clause */

/* The entry points for "use mpi_f08". MPICH's own call the C functions by their MPI_ names, except
 * those that start MPI. */
#define NAME(name) mpi_##name##_f08_
#define MPI_NAME(name) "mpi_" #name "_f08_"
#include "mpi/trace/fortran.c"
