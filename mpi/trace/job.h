/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_JOB_H
#define NUIOA_MPI_TRACE_JOB_H

/* Starts the trace, after MPI_Init, if NUIOA_TRACE_FILE names a file, whose absolute path is
 * shorter than PATH_MAX. A second call does nothing, and so does a call in a process that
 * MPI_Comm_spawn has started. If MPI reports an error, it says so on stderr, and nothing is
 * counted; nothing is also counted if the working directory of a relative path is gone. */
void trace_begin(void);

/* Sends the counters of all ranks to rank 0, which writes them to the file as a profile. It is
 * called before MPI_Finalize, and is collective over MPI_COMM_WORLD. It needs no memory but that of
 * the file's stream. If a rank had no memory to count all its messages, the profile is marked as
 * partial, and rank 0 says so on stderr. Rank 0 prints one line on stderr: what to type next, or,
 * if the file cannot be written or MPI reports an error, why, and then an older file stays. Frees
 * the counters and ends the trace. It does nothing if the trace was not started. */
void trace_end(void);

/* Writes the counters of this rank alone to the file, as a profile that is marked as partial, and
 * ends the trace. It is called before MPI_Abort, and when the program exits without MPI_Finalize.
 * It calls no MPI function, and does nothing if the trace was not started or has ended, or in a
 * child that the program has forked. If the file cannot be written, it says so on stderr. */
void trace_cut_short(void);

#endif
