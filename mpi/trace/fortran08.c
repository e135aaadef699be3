/* SPDX-License-Identifier: BSD-3-Clause */

/* The entry points for "use mpi_f08". */
#define NAME(c, fortran) mpi_##fortran##_f08_
#include "mpi/trace/fortran.c"
