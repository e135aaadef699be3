/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_TABLE_H
#define NUIOA_MPI_COLL_TABLE_H

#include <stdint.h>

#include "mpi/coll/tree.h"

/* A table tells which algorithm is used for which message. This file does not use MPI. A table is a
 * text:
 *
 *     nuioa-coll 1
 *     # collective nodes ranks-per-node from-bytes algorithm[:segment-bytes]
 *     bcast  2-   2-   65536  chain+window:131072
 *     bcast  *    *    0      pass
 *
 * The columns nodes and ranks-per-node are N, N-M, N- or *; ranks-per-node is that of the node with
 * the most ranks. from-bytes is the size of the smallest message that the row is for. The first row
 * that matches is used. If no row matches, the call is passed on to the MPI library, as with
 * "pass". nuioa-bench --table writes a table. */

#define COLL_ROW_MAX 256 /* the largest number of rows of a table */
#define COLL_WORD_MAX 48 /* the largest size in bytes of a word of the text, with its NUL */

/* One row of the text. */
struct coll_row {
    uint64_t from_bytes;
    uint32_t node_low, node_high; /* the numbers of nodes that match, both inclusive */
    uint32_t most_low, most_high; /* the same for ranks-per-node */
    struct coll_algorithm algorithm;
};

struct coll_table {
    uint32_t row_count;
    struct coll_row rows[COLL_ROW_MAX];
};

/* Reads a table from a text. Returns 0; or -EINVAL with the reason in `why`, an array of `size`
 * bytes, also without memory. Then *table is unchanged. After 0 `why` is empty, or says which row
 * was left out because its collective is led no more. */
int coll_table_parse(struct coll_table *table, const char *text, char *why, size_t size);

/* Does the same with the text in the file `path`. It also returns -EINVAL if the file cannot be
 * read or is too large. */
int coll_table_read(struct coll_table *table, const char *path, char *why, size_t size);

/* Makes *table the built-in table; without memory, an empty one. */
void coll_table_default(struct coll_table *table);

/* Makes *narrow a copy of those rows of *table that can match in a communicator with `node_count`
 * nodes and at most `most` ranks on a node. */
void coll_table_narrow(struct coll_table *narrow, const struct coll_table *table, int node_count,
                       int most);

/* Returns the algorithm of the first row that matches, in a table that coll_table_narrow made, for
 * a message of `bytes` bytes. It may say "pass". The table owns it. Returns NULL if no row
 * matches. */
const struct coll_algorithm *coll_table_choose(const struct coll_table *narrow, uint64_t bytes);

/* Returns the size in bytes of the smallest message for which a row says something else than
 * "pass", or UINT64_MAX if there is none. */
uint64_t coll_table_least(const struct coll_table *table);

/* Reads an algorithm such as "chain+window:131072", "flat" or "pass" into *algorithm. Returns 0, or
 * -EINVAL if there is no such algorithm. */
int coll_algorithm_parse(const char *text, struct coll_algorithm *algorithm);

/* Returns the names that coll_algorithm_parse accepts, without segments, separated by spaces: a
 * constant text. */
const char *coll_algorithm_names(void);

#endif
