#ifndef NUIOA_MPI_COLL_COMM_H
#define NUIOA_MPI_COLL_COMM_H

#include "coll.h"
#include "coll_map.h"
#include "coll_window.h"

/* What is known of a communicator: kept with it as an attribute, made by its COLL_PATIENCE-th large
 * collective, freed with it. MPI wants collectives of one communicator one after the other, so
 * nothing in here is locked. */

#define COLL_PATIENCE 3 /* those used once or twice are not worth three new communicators */

enum coll_state { COLL_NEW, COLL_PASSED, COLL_READY };

struct coll_comm {
    enum coll_state state;
    int calls;
    int me;
    MPI_Comm own;  /* the same ranks; errors are returned */
    MPI_Comm node; /* those of this node, in the same order */
    struct coll_map map;
    struct coll_table *table; /* the rows for this shape */
    struct coll_window *window; /* coll_comm_window */
    bool window_asked;
};

int coll_comm_open(void); /* an MPI error code */
void coll_comm_close(void); /* frees what MPI_COMM_WORLD and MPI_COMM_SELF have, and the key */

/* The state of `comm`, made if it is time; NULL: pass. */
struct coll_comm *coll_comm(MPI_Comm comm);

/* Shared memory of this node's ranks; collective over them. NULL, on all of them, if there is none
 * to be had or this rank is alone. */
struct coll_window *coll_comm_window(struct coll_comm *c);

#endif
