/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_PIPELINED_BCAST_H
#define NUIOA_MPI_COLL_PIPELINED_BCAST_H

#include "mpi/coll/comm.h"

/* Broadcast through a tree in segments: while a rank receives a segment, it sends the one before it
 * to its children (J. Watts and R. van de Geijn, "A Pipelined Broadcast for Multidimensional
 * Meshes", Parallel Processing Letters 5(2), 1995). */

/* How many receives are posted at a time where segments go in order. Each of them needs a slot of
 * the window. Where they do not, all receives are posted at once. */
#define COLL_AHEAD 4

/* How many segments are on the way to one child at a time. More segments would share the wire, and
 * the first one would arrive later at each hop of a chain. */
#define COLL_SENDS 1

/* A segment of at least so many bytes is sent with MPI_Issend, even if the MPI library would send
 * it eagerly. Then it is copied straight to its destination, and a slow rank holds back the ranks
 * before it. */
#define COLL_DIRECT_BYTES 65536

/* The tag of the library's messages. Segments of the i-th tree have COLL_TAG + i. */
#define COLL_TAG 1

/* Returns the size in bytes of the segments of a message of `bytes` bytes: how->segment_bytes, or
 * the whole message if that is 0, but at most a slot if how->intra is SHAPE_WINDOW, at most 256 MiB
 * in any case, and at least 1. */
size_t coll_pipelined_segment(const struct coll_algorithm *how, size_t bytes);

/* Sends `bytes` bytes from the root's buffer into the buffers of all ranks of the trees, which have
 * the same root and ranks (tree.h). Segment k goes through trees[k % tree_count]. Each tree has its
 * own pace, so a rank that gets the segments of one tree early and those of another late delays
 * neither; but with windows the segments go in order, because slots are used in order. Trees with
 * readers need c->window (coll_comm_window). All ranks of the trees call it, with the same sizes.
 * Returns an MPI error code. */
int coll_pipelined_bcast(struct coll_comm *c, const struct coll_tree *trees, int tree_count,
                         const struct coll_algorithm *how, char *buffer, size_t bytes);

/* Does the same within this node only, from the rank `entry` of the communicator, which is on this
 * node, by the shape how->intra; by a chain instead of a window if there is no window. All ranks of
 * the node call it. Returns an MPI error code. */
int coll_pipelined_bcast_node(struct coll_comm *c, const struct coll_algorithm *how, int entry,
                              char *buffer, size_t bytes);

#endif
