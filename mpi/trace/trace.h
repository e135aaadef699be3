/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_TRACE_H
#define NUIOA_MPI_TRACE_TRACE_H

#include <mpi.h>
#include <stddef.h>

#include "mpi/trace/collective.h"
#include "mpi/trace/comm.h"
#include "mpi/trace/job.h"
#include "mpi/trace/next.h"
#include "mpi/trace/point.h"
#include "mpi/trace/table.h"

/* libnuioa-trace counts which rank sends how much to which other rank, and writes a profile. A
 * message is counted where it is sent, and a one-sided operation where it is called. So each counts
 * once, and the ranks exchange nothing before the end. The entry points include this header. */

/* These tell what this MPI library has of MPI 4. Open MPI 5 has its functions, but not those that
 * count by MPI_Count, and says that it is MPI 3.1. */
#define TRACE_LARGE_COUNTS (MPI_VERSION >= 4)
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define TRACE_MPI_4 1
#else
#define TRACE_MPI_4 0
#endif

#endif
