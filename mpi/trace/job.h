/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_JOB_H
#define NUIOA_MPI_TRACE_JOB_H

/* Starts the trace. Called after MPI_Init. */
void trace_begin(void);

/* Gathers the counters of all ranks and writes the profile. Called before MPI_Finalize;
 * collective. */
void trace_end(void);

/* Writes the counters of this rank, as a partial profile. Called before MPI_Abort. */
void trace_cut_short(void);

#endif
