/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_TABLE_H
#define NUIOA_MPI_TRACE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* The counters of this process: bytes and messages to and from each rank of MPI_COMM_WORLD. */

#define TRACE_LARGE 32768 /* bytes of a large message: "large" in a profile */

enum trace_direction { TRACE_TO, TRACE_FROM };

struct trace_count {
    uint64_t bytes, msgs, large_bytes;
};

/* Makes the counters for rank_count ranks. `threads`: several threads may count at once. Returns 0
 * or -ENOMEM. */
int trace_table_open(int rank_count, bool threads);

/* Frees the counters. Later events are ignored. */
void trace_table_close(void);

/* Counts `msgs` messages of `bytes` bytes each. Any thread may call it. Ranks outside the table are
 * ignored. */
void trace_add(enum trace_direction direction, int rank, uint64_t bytes, uint64_t msgs);

/* Returns the counter, which the table owns, or NULL if nothing was counted. */
const struct trace_count *trace_counted(enum trace_direction direction, int rank);

/* A list of the messages that a persistent request sends each time it is started. */
struct trace_notes {
    struct trace_note {
        int rank;
        uint64_t bytes, msgs;
    } * list;
    uint32_t count, room;
};

/* From now on trace_add in this thread adds to *notes, which is all zeros at first, and does not
 * count, until this is called with NULL. If there is no memory, messages are lost. */
void trace_note(struct trace_notes *notes);

/* Counts all messages of the list as sent. */
void trace_count_notes(const struct trace_notes *notes);

/* Frees the list and makes it empty. The struct itself belongs to the caller. */
void trace_forget_notes(struct trace_notes *notes);

#endif
