/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_JOB_H
#define NUIOA_MPI_COLL_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/coll/table.h"

/* The settings of this process. They are read in MPI_Init, without a message. */

struct coll_job {
    bool on;
    bool force;  /* run the algorithms also if nothing is to be gained; for tests */
    bool stats;  /* count the calls, and print the counts at the end */
    int pretend; /* number of pretended nodes into which ranks are split; 0: none; for tests */
    struct coll_table table;
    bool is_chosen[COLL_COUNT];
    struct coll_algorithm chosen[COLL_COUNT]; /* if is_chosen, used instead of the table */
    uint64_t least[COLL_COUNT]; /* bytes; smaller messages are passed on without another look */
};
extern struct coll_job coll_job;

/* Reads the settings. Called after MPI_Init. Sends no message. */
void coll_job_begin(void);

/* Prints the counts if they are wanted. From now on all calls are passed on. */
void coll_job_end(void);

/* Counts one call of this collective, for NUIOA_COLL_STATS: it was led by this library, or passed
 * on to the MPI library. Any thread may call it. */
void coll_job_count(enum coll_collective collective, bool led);

/* Returns whether the library is on in all ranks of `comm`, with the same settings. The result is
 * the same on all of them. Costs one MPI_Allreduce of 16 bytes; collective over `comm`. */
bool coll_job_agree(MPI_Comm comm);

#endif
