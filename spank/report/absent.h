/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_ABSENT_H
#define SPANK_REPORT_ABSENT_H

#include <stdint.h>

/* Which nodes of a step have not answered srun. */

struct absent {
    void *answered;      /* a hostlist of libslurm; NULL: nobody, or no memory */
    uint32_t node_count; /* of the step; 0: not known */
    char *nodes;         /* the list of nodes that the step may have; NULL: not known */
};

/* Sets the step's nodes: their number, and the list in the environment of srun, which may have more
 * nodes than the step has, or be NULL. The list is copied. *absent is zeros before. */
void absent_begin(struct absent *absent, uint32_t node_count, const char *nodes);

/* Notes that `host` has answered. */
void absent_answered(struct absent *absent, const char *host);

/* Writes the names of the nodes that have not answered, such as "node[2-3]", into `names`, an array
 * of `size` bytes, at least 4; a longer list is cut and ends with "..". If they are not known, it
 * writes "". */
void absent_names(const struct absent *absent, char *names, uint32_t size);

/* Frees what *absent owns, and sets it to zeros. The struct itself belongs to the caller. */
void absent_free(struct absent *absent);

#endif
