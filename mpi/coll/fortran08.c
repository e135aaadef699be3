/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/fortran08.h"
#include "mpi/coll/enter.h"

#ifdef OPEN_MPI
#include "mpi/coll/fortran.c"
#endif
