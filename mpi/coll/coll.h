/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_COLL_H
#define NUIOA_MPI_COLL_COLL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/coll/table.h"

/* libnuioa-coll: collectives led from beside the NIC (Goglin & Moreaud, CASS 2011). What the
 * program calls is in mpi/coll/calls.c and mpi/coll/fortran.c; each collective then either is
 * passed to the MPI library untouched or runs on what is known of its communicator
 * (mpi/coll/comm.h).
 *
 * Whether it does must come out the same on all ranks of the communicator, so it depends only on
 * what all of them have agreed upon (coll_job_agree) and on what MPI says is the same there: the
 * number of bytes, the root, the operation. Whether a datatype
 * is contiguous, or a buffer in place, each rank settles for itself (mpi/coll/type.h). Inside, only
 * PMPI_ is called. */

/* --- the job (mpi/coll/job.c): what this process was told, read in MPI_Init without a message
 * --- */

struct coll_job {
    bool on;
    bool force; /* act also where there is nothing to gain: for tests */
    bool stats;
    int pretend; /* so many nodes, by blocks of ranks; 0: as they are. For tests */
    struct coll_table table;
    bool is_chosen[COLL_COUNT];
    struct coll_algorithm chosen[COLL_COUNT]; /* instead of the table */
    uint64_t least[COLL_COUNT];               /* smaller messages pass without another look */
};
extern struct coll_job coll_job;

void coll_job_begin(void);
void coll_job_end(void);

/* Counts a call of this collective for NUIOA_COLL_STATS: led, or passed on. Any thread. */
void coll_job_count(enum coll_collective collective, bool led);

/* Are all ranks of `comm` willing, and were they told the same? One small MPI_Allreduce. */
bool coll_job_agree(MPI_Comm comm);

/* --- the whole (enter.c) --- */

void coll_begin(void); /* after MPI_Init; a second call does nothing */
void coll_end(void);   /* before MPI_Finalize */

/* --- a call on a communicator that has agreed (mpi/coll/comm.h): led, and how, or passed on?
 * --- */

struct coll_comm;

bool coll_enter(struct coll_comm *c, enum coll_collective collective, uint64_t bytes,
                struct coll_algorithm *algorithm);

/* The same where only `root` knows the bytes of all blocks together: it tells the others, at the
 * cost of a small broadcast. */
bool coll_enter_told(struct coll_comm *c, enum coll_collective collective, int root,
                     uint64_t total_bytes, struct coll_algorithm *algorithm);

/* --- the collectives: arguments as in MPI, already checked; an MPI error code is returned --- */

int coll_bcast(struct coll_comm *c, const struct coll_algorithm *how, void *buffer, int count,
               MPI_Datatype type, int root);
int coll_reduce(struct coll_comm *c, const struct coll_algorithm *how, const void *out, void *in,
                int count, MPI_Datatype type, MPI_Op op, int root);
int coll_allreduce(struct coll_comm *c, const struct coll_algorithm *how, const void *out, void *in,
                   int count, MPI_Datatype type, MPI_Op op);

/* A block of each rank. `same`: all of `count` elements, one after the other; else counts and
 * displs say, which only the root of a gather or scatter has. */
struct coll_blocks {
    bool same;
    void *buffer;
    int count;
    const int *counts, *displs;
    MPI_Datatype type;
};

int coll_allgather(struct coll_comm *c, const struct coll_algorithm *how, const void *out,
                   int count, MPI_Datatype type, const struct coll_blocks *in);
int coll_gather(struct coll_comm *c, const struct coll_algorithm *how, const void *out, int count,
                MPI_Datatype type, const struct coll_blocks *in, int root);
int coll_scatter(struct coll_comm *c, const struct coll_algorithm *how,
                 const struct coll_blocks *out, void *in, int count, MPI_Datatype type, int root);

#endif
