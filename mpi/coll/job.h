/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_JOB_H
#define NUIOA_MPI_COLL_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/coll/table.h"

/* The settings of this process. They are read in MPI_Init, without a message. */

/* What kept a broadcast from being led. Of all broadcasts the one that came furthest counts, so
 * later values are nearer to being led. */
enum coll_reason {
    COLL_NO_CALL,   /* the program made no broadcast */
    COLL_SMALL,     /* smaller than coll_job.least */
    COLL_FEW,       /* a communicator's first ones are never led */
    COLL_ONE_NODE,  /* nothing is to be gained in a communicator of one node, */
    COLL_ONE_RANK,  /* ... of one rank on each node, */
    COLL_NO_ADVICE, /* ... without advice, */
    COLL_CROWDED,   /* ... or of ranks that share CPUs */
    COLL_NO_ROW,    /* no row of the table is for it */
    COLL_DEVICE,    /* a buffer is in the memory of a GPU */
    COLL_SAID,      /* it has been said why */
    COLL_LED
};

struct coll_job {
    bool on;     /* false: all calls are passed on */
    bool force;  /* run the algorithms also if nothing is to be gained; for tests */
    bool stats;  /* count the calls, and print the counts at the end */
    int pretend; /* number of pretended nodes into which ranks are split; 0: none; for tests */
    struct coll_table table;
    bool is_chosen;
    struct coll_algorithm chosen; /* if is_chosen, used instead of the table */
    uint64_t least;               /* bytes; smaller messages are passed on without another look */
    bool quiet;                   /* nobody asked for the library: it says nothing at the end */
    enum coll_reason reason;      /* the greatest that was noted; written by coll_job_note */
};
extern struct coll_job coll_job;

/* Reads the settings from the environment into coll_job, after MPI_Init, and sends no message. A
 * wrong value is replaced by the default, and rank 0 says so on stderr. It switches the library off
 * if the program uses MPI_THREAD_MULTIPLE or runs on machines that are not alike. */
void coll_job_begin(void);

/* Prints to stderr, on rank 0, the counts if NUIOA_COLL_STATS asks for them, and, if no broadcast
 * was led, one line that says why and what to do, unless coll_job.quiet, or the user chose to pass
 * all calls on, or it has been said. From now on all calls are passed on. */
void coll_job_end(void);

/* Counts one broadcast, for NUIOA_COLL_STATS: it was led by this library, or passed on to the MPI
 * library. Any thread may call it. */
void coll_job_count(bool led);

/* Notes what became of a broadcast. */
static inline void coll_job_note(enum coll_reason reason)
{
    if (reason > coll_job.reason)
        coll_job.reason = reason;
}

/* Returns true if the library is on in all ranks of `comm`, with the same settings; false if not.
 * The result is the same on all of them. A rank to which MPI reports an error has false. If the
 * settings differ, rank 0 of MPI_COMM_WORLD, if it is one of them, says so on stderr, once. All
 * ranks of `comm` call it, and it costs one MPI_Allreduce of 16 bytes. */
bool coll_job_agree(MPI_Comm comm);

#endif
