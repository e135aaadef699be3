/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_JOB_H
#define NUIOA_MPI_COLL_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/coll/table.h"

/* The settings of this process. They are read in MPI_Init, without a message. */

struct coll_job {
    bool on;     /* false: all calls are passed on */
    bool force;  /* run the algorithms also if nothing is to be gained; for tests */
    bool stats;  /* count the calls, and print the counts at the end */
    int pretend; /* number of pretended nodes into which ranks are split; 0: none; for tests */
    struct coll_table table;
    bool is_chosen;
    struct coll_algorithm chosen; /* if is_chosen, used instead of the table */
    uint64_t least;               /* bytes; smaller messages are passed on without another look */
};
extern struct coll_job coll_job;

/* Reads the settings from the environment into coll_job, after MPI_Init, and sends no message. A
 * wrong value is replaced by the default, and rank 0 says so on stderr. It switches the library off
 * if the program uses MPI_THREAD_MULTIPLE or runs on machines that are not alike. */
void coll_job_begin(void);

/* Prints the counts to stderr, on rank 0, if NUIOA_COLL_STATS asks for them. From now on all calls
 * are passed on. */
void coll_job_end(void);

/* Counts one broadcast, for NUIOA_COLL_STATS: it was led by this library, or passed on to the MPI
 * library. Any thread may call it. */
void coll_job_count(bool led);

/* Returns true if the library is on in all ranks of `comm`, with the same settings; false if not,
 * or if MPI reports an error. The result is the same on all of them. All ranks of `comm` call it,
 * and it costs one MPI_Allreduce of 16 bytes. */
bool coll_job_agree(MPI_Comm comm);

#endif
