/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_WINDOW_H
#define NUIOA_MPI_COLL_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Memory shared by the ranks of a node (MPI_Win_allocate_shared). Each rank owns an area, which
 * lies on its own NUMA node: COLL_SLOTS slots and two flags.
 *
 * Segments are numbered through: number q goes through slot q % COLL_SLOTS of whoever writes it.
 * `posted` of a rank is 1 + the last number it wrote, `taken` 1 + the last it is through with.
 * All ranks of the window count every segment, so a slot is free for q once the others have taken
 * q - COLL_SLOTS.
 *
 * Windows are made together but given back by each rank alone, so that freeing a communicator waits
 * for nobody; later communicators of the same ranks take them again; MPI_Finalize frees them. */

#define COLL_SLOTS 4
#define COLL_SLOT_BYTES 131072

struct coll_flags {
    uint64_t posted;
    char apart[120];
    uint64_t taken;
    char apart_too[120];
};

struct coll_window {
    int count, me;
    uint64_t next; /* number of the next segment */
    char **areas;  /* [count] */
    /* mpi/coll/window.c's */
    uint64_t id;
    MPI_Win win;
    int *world; /* [count] */
    bool used;
    struct coll_window *older;
};

/* Collective over `node`. NULL on all of its ranks if one of them has no memory for it. */
struct coll_window *coll_window_take(MPI_Comm node);
void coll_window_give(struct coll_window *window); /* NULL allowed */
void coll_window_close(void);                      /* collective: frees all that were ever made */

static inline struct coll_flags *coll_window_flags(const struct coll_window *window, int rank)
{
    return (struct coll_flags *)window->areas[rank];
}

#define COLL_AREA_HEAD 4096 /* flags on a page of their own */

static inline char *coll_window_slot(const struct coll_window *window, int rank, uint64_t number)
{
    return window->areas[rank] + COLL_AREA_HEAD + number % COLL_SLOTS * COLL_SLOT_BYTES;
}

/* Until this rank's slot for `number` is free. */
void coll_window_await_slot(const struct coll_window *window, uint64_t number);

#endif
