/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_TABLE_H
#define NUIOA_MPI_COLL_TABLE_H

#include <stdint.h>

#include "mpi/coll/tree.h"

/* Which algorithm for which message. Pure: no MPI here. A table is text:
 *
 *     nuioa-coll 1
 *     # collective nodes ranks-per-node from-bytes algorithm[:segment-bytes]
 *     bcast  2-   2-   65536  chain+window:131072
 *     bcast  *    *    0      pass
 *
 * nodes and ranks-per-node (of the node that has most): N, N-M, N- or *. from-bytes: the smallest
 * message; of the whole buffer for bcast, reduce and allreduce, of one rank's part for gather,
 * scatter and allgather, of all parts over the number of ranks for those with a v. Sizes of gatherv
 * and scatterv are known to the root only, which tells the others if there is any row for them:
 * each call then costs a small broadcast more, so the built-in table has none. The first row that
 * matches is taken; none: pass, the MPI library's own. nuioa-bench --table writes such a file. */

enum coll_collective {
    COLL_BCAST,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_ALLGATHER,
    COLL_ALLGATHERV,
    COLL_GATHER,
    COLL_GATHERV,
    COLL_SCATTER,
    COLL_SCATTERV,
    COLL_COUNT
};

#define COLL_ROW_MAX 256
#define COLL_WORD_MAX 48 /* with its end */

struct coll_row {
    uint64_t from_bytes;
    uint32_t node_low, node_high, most_low, most_high;
    uint32_t collective;
    struct coll_algorithm algorithm;
};

struct coll_table {
    uint32_t row_count;
    struct coll_row rows[COLL_ROW_MAX];
};

/* Each returns 0, or -EINVAL with what is wrong in `why` (size bytes); then *table is as it was. */
int coll_table_parse(struct coll_table *table, const char *text, char *why, size_t size);
int coll_table_read(struct coll_table *table, const char *path, char *why, size_t size);
void coll_table_default(struct coll_table *table);

/* The rows that can match in a communicator of this shape, in their order. */
void coll_table_narrow(struct coll_table *narrow, const struct coll_table *table, int node_count,
                       int most);

/* Of a narrowed table: perhaps to pass; NULL: none matches. */
const struct coll_algorithm *coll_table_choose(const struct coll_table *narrow,
                                               enum coll_collective collective, uint64_t bytes);

/* The smallest message for which any row says something else than pass; UINT64_MAX: none. */
uint64_t coll_table_least(const struct coll_table *table, enum coll_collective collective);

/* "chain+window:131072", "flat", "pass". -EINVAL if it is not one or not one of this collective. */
int coll_algorithm_parse(enum coll_collective collective, const char *text,
                         struct coll_algorithm *algorithm);

/* The names that coll_algorithm_parse takes, between spaces. */
const char *coll_algorithm_names(enum coll_collective collective);

const char *coll_collective_name(enum coll_collective collective);
int coll_collective_parse(const char *name); /* -EINVAL */

#endif
