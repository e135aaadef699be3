/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_TYPE_H
#define NUIOA_MPI_COLL_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages as bytes. Ranks of one collective may describe the same data by different datatypes, so
 * what travels is always plain bytes: straight from the program's buffer where its type is
 * contiguous, else packed on the way out and unpacked on the way in. */

/* Of count elements. 0 also for what MPI is to refuse (negative, MPI_DATATYPE_NULL) and for what is
 * too large for an int. */
uint64_t coll_bytes(int count, MPI_Datatype type);

/* True if PMPI_Pack writes nothing but the data themselves, as both MPI libraries do among equal
 * machines: asked once. */
bool coll_type_packs_plainly(void);

struct coll_view {
    char *data;
    size_t bytes;
    /* the program's */
    void *buffer;
    int count;
    MPI_Datatype type;
    bool packed;
};

/* coll_view_close unpacks what COLL_WRITE opened. Both return an MPI error code; after an error of
 * the first there is nothing to close. */
enum coll_access { COLL_READ = 1, COLL_WRITE = 2 };
int coll_view_open(struct coll_view *view, const void *buffer, int count, MPI_Datatype type,
                   enum coll_access access);
int coll_view_close(struct coll_view *view, enum coll_access access);

/* To and from plain bytes; an MPI error code. */
int coll_pack(const void *buffer, int count, MPI_Datatype type, char *bytes);
int coll_unpack(const char *bytes, void *buffer, int count, MPI_Datatype type);

/* Elements follow each other without gaps. */
bool coll_type_is_contiguous(MPI_Datatype type);

/* True if `op` is one of MPI's own, all of which commute, and `type` one of the common ones of
 * MPI's own that it is for. */
bool coll_op_is_plain(MPI_Op op, MPI_Datatype type);

#endif
