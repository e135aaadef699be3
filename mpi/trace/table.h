/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_TABLE_H
#define NUIOA_MPI_TRACE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* The counters of this process: bytes and messages to and from each rank of MPI_COMM_WORLD. */

#define TRACE_LARGE 32768 /* bytes of a large message: "large" in a profile */

/* TRACE_TO counts what this process sends to a rank, TRACE_FROM what it gets from a rank by a
 * one-sided call, and TRACE_RING what it sends to a rank in the chains and rings that stand for
 * collectives (mpi/trace/collective.c). */
enum trace_direction { TRACE_TO, TRACE_FROM, TRACE_RING, TRACE_DIRECTIONS };

struct trace_count {
    uint64_t bytes;       /* bytes of all messages */
    uint64_t msgs;        /* number of messages */
    uint64_t large_bytes; /* bytes of messages of TRACE_LARGE bytes or more */
};

/* Makes the counters for ranks from 0 to rank_count - 1, all 0. `threads` says that several threads
 * may count at once. trace_table_close() frees them. It cannot fail: memory is allocated later,
 * where it is needed. */
void trace_table_open(int rank_count, bool threads);

/* Frees the counters. Messages that are counted later are ignored. No other thread may be
 * counting. */
void trace_table_close(void);

/* Counts `msgs` messages of `bytes` bytes each to or from `rank` of MPI_COMM_WORLD. Any thread may
 * call it. Ranks outside the table are ignored. Messages without memory for a counter are lost, and
 * trace_lost() then tells it. */
void trace_add(enum trace_direction direction, int rank, uint64_t bytes, uint64_t msgs);

/* Says that there was no memory to count a message. */
void trace_lose(void);

/* Returns true if trace_lose() was called: the counters are too low. */
bool trace_lost(void);

/* Returns the counter of `rank`, which must be in the table; or NULL if nothing was counted. The
 * table owns it, until trace_table_close(). */
const struct trace_count *trace_counted(enum trace_direction direction, int rank);

/* A list of the messages that a persistent request sends each time it is started. A struct of zeros
 * is empty. */
struct trace_notes {
    struct trace_note {
        enum trace_direction direction;
        int rank;
        uint64_t bytes, msgs;
    } * list;
    uint32_t count, room;
};

/* From now on trace_add() in this thread adds to *notes and does not count, until this is called
 * with NULL. trace_forget_notes() frees the list. If there is no memory, messages are lost. */
void trace_note(struct trace_notes *notes);

/* Counts all messages of the list once. */
void trace_count_notes(const struct trace_notes *notes);

/* Frees the list and makes it empty. The struct itself belongs to the caller. */
void trace_forget_notes(struct trace_notes *notes);

#endif
