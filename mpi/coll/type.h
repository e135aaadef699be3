/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_TYPE_H
#define NUIOA_MPI_COLL_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ranks of one broadcast may describe the same data by different datatypes, so messages are
 * always plain bytes. If the program's type is contiguous, they are sent from its buffer; else they
 * are packed before they are sent and unpacked after they are received.
 *
 * A buffer in the memory of a GPU is packed and unpacked by the MPI library too, which can do that
 * if the program may give it such a buffer at all. This is slow. It happens only if this rank has
 * loaded the GPU's runtime after the ranks had agreed that nobody is likely to use a GPU (comm.h):
 * then the others lead the call, and this rank must take part. */

/* Returns the size in bytes of `count` elements of `type`. Returns 0 for arguments that MPI must
 * refuse (a negative count, MPI_DATATYPE_NULL), and for sizes above INT_MAX. */
uint64_t coll_bytes(int count, MPI_Datatype type);

/* Returns true if PMPI_Pack writes the plain data only. This is true for both MPI libraries if all
 * machines are alike. It is tested once, in coll_job_begin. */
bool coll_type_packs_plainly(void);

/* A buffer of the program as plain bytes. */
struct coll_view {
    char *data;   /* [bytes] */
    size_t bytes; /* 0: nothing to send or receive */
    void *buffer; /* the program's, like count and type */
    int count;
    MPI_Datatype type;
    bool packed; /* true: data is allocated; false: data is the program's buffer */
};

/* A buffer's elements are sent (COLL_READ) or received (COLL_WRITE). */
enum coll_access { COLL_READ, COLL_WRITE };

/* Makes *view the view of `count` elements of `type` in `buffer`, which must outlive it. If it has
 * to be packed and `access` is COLL_READ, the elements are packed. Returns an MPI error code.
 * After an error there is nothing to close. */
int coll_view_open(struct coll_view *view, const void *buffer, int count, MPI_Datatype type,
                   enum coll_access access);

/* Unpacks the view into the program's buffer if it is packed and `access` is COLL_WRITE, and frees
 * what it owns. Returns an MPI error code, and has freed it then too. */
int coll_view_close(struct coll_view *view, enum coll_access access);

#endif
