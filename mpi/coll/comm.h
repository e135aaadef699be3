/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_COMM_H
#define NUIOA_MPI_COLL_COMM_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/coll/map.h"
#include "mpi/coll/table.h"
#include "mpi/coll/window.h"

/* This struct describes a communicator. It is kept as an attribute of the communicator and freed
 * with it. MPI requires that collectives of one communicator follow each other, so nothing here is
 * locked. The whole library is one decision for each communicator and each call: is the call led
 * here, or passed on to the MPI library? All ranks must decide the same. So the decision depends
 * only on settings that all ranks have agreed on (coll_job_agree), and on what MPI guarantees to be
 * the same on all ranks: bytes and root.
 *
 * A communicator is NEW at first. Its first large call, or its third call of any size, asks all
 * ranks whether they have the same settings. Then it is AGREED, or PASSED: all its calls are passed
 * on. The moment of this question depends only on the number of calls so far and on their bytes; so
 * it is the same on all ranks, whatever their settings. The third call of coll_job.least bytes or
 * more in the state AGREED makes the rest of this struct; with coll_job.force the first one does.
 * Then the communicator is READY, or PASSED if nothing is to be gained.
 *
 * A buffer can be in the memory of a GPU, which the CPU must not touch. One rank alone may have
 * such a buffer, so nobody can pass a call on without asking all others. When the rest of this
 * struct is made, the ranks agree whether one of them is likely to use a GPU (device.h). If so,
 * `asks` is true, and before each call that would be led they ask each other about their buffers,
 * by one MPI_Allreduce of 4 bytes. If not, no message is sent. A rank that loads the runtime of a
 * GPU later takes part in what the others lead, with copies of its buffers (type.h). */

/* The number of calls after which ranks exchange messages and make communicators: these would not
 * pay for a communicator that is used once or twice. */
#define COLL_CALLS_MIN 3

/* The bytes of a large call, which asks at once. No row of the built-in table begins below. */
#define COLL_LARGE 32768

/* As above. */
enum coll_state { COLL_NEW, COLL_PASSED, COLL_AGREED, COLL_READY };

/* The members from `me` on are valid if the state is COLL_READY. The struct owns all but `comm`. */
struct coll_comm {
    enum coll_state state;
    int calls;       /* number of calls while the state is COLL_NEW */
    int large_calls; /* number of calls of coll_job.least bytes or more while it is COLL_AGREED */
    MPI_Comm comm;   /* the program's */
    int size;        /* the number of ranks */
    int me;          /* this process's rank */
    MPI_Comm own;    /* ours, with the same ranks; errors are returned */
    MPI_Comm node;   /* ours, with the ranks of this node, in the same order */
    struct coll_map map;
    struct coll_table *table;   /* the rows of the table that can match here */
    struct coll_window *window; /* made by coll_comm_window; NULL: none */
    bool window_asked;          /* coll_comm_window was called */
    bool asks;                  /* before each call that would be led, the ranks ask each other */
    int device_calls;           /* number of calls in a row that were then passed on */
};

/* Creates the key of the attribute, in MPI_Init. If MPI cannot make it, all calls are passed on. */
void coll_comm_open(void);

/* Frees the key, and the attributes of MPI_COMM_WORLD and MPI_COMM_SELF, before MPI_Finalize. All
 * calls are passed on afterwards. A second call does nothing. */
void coll_comm_close(void);

/* Notes that from now on a communicator may have members of another MPI_COMM_WORLD. This library's
 * MPI_Intercomm_merge calls it: only this MPI function makes such communicators, and all members
 * call it. */
void coll_comm_allow_other_worlds(void);

/* Returns the description of `comm`, which owns it, or NULL if the call is to be passed on. Every
 * rank calls it once for every broadcast on `comm`. If this call is the one that asks all ranks for
 * their settings, this function asks them, so it can wait for them. `bytes` is the size of the
 * call's message (coll_bytes). Aborts the process if there is no memory, or MPI does not keep the
 * description: the other ranks would wait for it for ever. */
struct coll_comm *coll_comm(MPI_Comm comm, uint64_t bytes);

/* Returns true if the communicator is READY, and false if the call is to be passed on. The result
 * is the same on all ranks. The caller calls it once for each call of coll_job.least bytes or more
 * on a communicator that is AGREED or READY. It counts these calls, and the one that makes the rest
 * of *c, as above, makes it together with all other ranks of the communicator, and waits for
 * them. */
bool coll_comm_ready(struct coll_comm *c);

/* Passes on all further calls, and frees what only a communicator that is READY has. All ranks call
 * it within the same call. */
void coll_comm_pass(struct coll_comm *c);

/* Returns the memory that the ranks of this node share, the same in each call; *c owns it. All
 * ranks of the node make the first call together, and it waits for them. Returns NULL, on all of
 * them, if there is no such memory or the node has one rank of the communicator only. */
struct coll_window *coll_comm_window(struct coll_comm *c);

#endif
