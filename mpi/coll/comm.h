/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_COMM_H
#define NUIOA_MPI_COLL_COMM_H

#include "mpi/coll/coll.h"
#include "mpi/coll/map.h"
#include "mpi/coll/window.h"

/* What is known of a communicator, kept with it as an attribute and freed with it. MPI wants
 * collectives of one communicator one after the other, so nothing in here is locked.
 *
 * NEW: nothing has been said yet. Its first large call, or its third of any size, asks all ranks
 * whether they were told the same (coll_job_agree): AGREED, or PASSED for good. When to ask follows
 * from what is the same on all ranks whatever they were told: how many of our calls it has seen,
 * and the bytes of those whose bytes all ranks know. Then its third large call makes the rest:
 * READY, or PASSED where there is nothing to gain. */

#define COLL_PATIENCE 3  /* what is used once or twice is worth no message, nor communicators */
#define COLL_LARGE 32768 /* bytes; no row of the built-in table begins below */

enum coll_state { COLL_NEW, COLL_PASSED, COLL_AGREED, COLL_READY };

struct coll_comm {
    enum coll_state state;
    int calls, large_calls;
    MPI_Comm comm; /* the program's */
    int size;
    int me;
    MPI_Comm own;  /* the same ranks; errors are returned */
    MPI_Comm node; /* those of this node, in the same order */
    struct coll_map map;
    struct coll_table *table;   /* the rows for this shape */
    struct coll_window *window; /* coll_comm_window */
    bool window_asked;
};

void coll_comm_open(void);
void coll_comm_close(void); /* frees what MPI_COMM_WORLD and MPI_COMM_SELF have, and the key */

/* From now on communicators may have members of other worlds: only MPI_Intercomm_merge makes such,
 * which all members call. */
void coll_comm_meet(void);

/* The state of `comm`, agreed upon if it is time. `bytes`: of this call; 0 where not all ranks know
 * it. NULL: pass. */
struct coll_comm *coll_comm(MPI_Comm comm, uint64_t bytes);

/* For a large call on a communicator that has agreed: made if it is time; false: pass. */
bool coll_comm_ready(struct coll_comm *c);

/* Shared memory of this node's ranks; collective over them. NULL, on all of them, if there is none
 * to be had or this rank is alone. */
struct coll_window *coll_comm_window(struct coll_comm *c);

#endif
