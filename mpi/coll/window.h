/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_WINDOW_H
#define NUIOA_MPI_COLL_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* A window is memory that the ranks of a node share (MPI_Win_allocate_shared). Each rank owns an
 * area in it, which is on the rank's own NUMA node: COLL_SLOTS slots and two flags.
 *
 * The segments that go through a window are numbered without a gap. Segment q uses slot q %
 * COLL_SLOTS of the rank that writes it. The flag `posted` of a rank is 1 + the last number that it
 * wrote, and `taken` is 1 + the last number that it needs no more. All ranks of the window count
 * each segment, so a slot is free for q when all others have taken q - COLL_SLOTS.
 *
 * All ranks make a window together, but each rank gives it back alone, so that to free a
 * communicator is no collective operation. Later communicators of the same ranks use the window
 * again. MPI_Finalize frees all windows. */

#define COLL_SLOTS 4           /* slots of each rank */
#define COLL_SLOT_BYTES 131072 /* bytes of a slot, which holds one segment */
#define COLL_AREA_HEAD 4096    /* the flags have a page of their own */

/* The padding keeps the flags in different cache lines. */
struct coll_flags {
    uint64_t posted;
    char apart[120];
    uint64_t taken;
    char apart_too[120];
};

struct coll_window {
    int count, me; /* the number of ranks, and the rank of this process among them */
    uint64_t next; /* the number of the next segment */
    char **areas;  /* [count]: the area of each rank */
    /* The rest is for mpi/coll/window.c only. */
    uint64_t id;
    MPI_Win win;
    int *world; /* [count]: ranks in MPI_COMM_WORLD */
    bool used;
    struct coll_window *older;
};

/* Returns a window for the ranks of `node`, a communicator of ranks on one node: a window that they
 * have given back, or a new one. All ranks of `node` call it. The caller gives it back with
 * coll_window_give; coll_window_close frees it. Returns NULL on all of these ranks if one of them
 * has no memory or MPI reports an error. */
struct coll_window *coll_window_take(MPI_Comm node);

/* Gives the window back, so that coll_window_take may return it again. Each rank calls it alone.
 * NULL is allowed. */
void coll_window_give(struct coll_window *window);

/* Frees all windows, before MPI_Finalize. All ranks of MPI_COMM_WORLD call it. */
void coll_window_close(void);

/* Returns the flags of `rank`, a rank of the window as `me` is. The window owns them. */
static inline struct coll_flags *coll_window_flags(const struct coll_window *window, int rank)
{
    return (struct coll_flags *)window->areas[rank];
}

/* Returns the slot that `rank`, a rank of the window as `me` is, uses for segment `number`. The
 * slot has COLL_SLOT_BYTES bytes and belongs to the window. It need not be free. */
static inline char *coll_window_slot(const struct coll_window *window, int rank, uint64_t number)
{
    return window->areas[rank] + COLL_AREA_HEAD + number % COLL_SLOTS * COLL_SLOT_BYTES;
}

/* Waits, without a time limit, until this process's slot for segment `number` is free: all other
 * ranks of the window need no more what it holds. */
void coll_window_await_slot(const struct coll_window *window, uint64_t number);

#endif
