/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_SERVER_SESSION_H
#define NUIOA_PMIX_SERVER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix/server/publish.h"
#include "pmix/value.h"
#include "util/error.h"

/* This header is private to pmix/server. It declares the PMIx server of this process, and the step
 * whose keys are stored in it. No function here is thread-safe. */

struct nuioa_publisher {
    struct pmix_calls calls;
    unsigned patience_ms; /* how long to wait for an answer of PMIx; 0: it is not asked before */
    int64_t answered_ms;  /* when PMIx answered last, by the monotonic clock */
    char nspace[NUIOA_NAMESPACE_SIZE];
    uint32_t count;          /* number of local tasks */
    uint32_t stored;         /* number of keys stored so far */
    uint32_t time_us;        /* time spent on storing */
    bool no_records;         /* true: this PMIx does not take a rank's keys in one call */
    bool records_proven;     /* true: it was seen to take them */
    struct nuioa_error *err; /* where the reason of an error goes; owned by the present caller */
    uint32_t ranks[];        /* [count]: PMIx's rank of each task, by local rank */
};

/* Asks PMIx a question from another thread and waits for the answer, at most s->patience_ms. If it
 * answers, the next calls of PMIx are expected to return too. PMIx is not asked if its last answer
 * is younger than s->patience_ms, because each question costs the launch a thread. Returns 0, or
 * -ETIMEDOUT, -EAGAIN (no thread) or -ENOMEM with the reason in *s->err. If PMIx never answers, the
 * thread never ends; so a library that contains this code must not be unloaded (-z nodelete). */
int session_await(struct nuioa_publisher *s);

/* Returns true if the first local rank has this key already, with a value of this type, from Slurm.
 * Slurm gives all ranks the same keys. It calls PMIx, so session_await() comes before. */
bool session_has(const struct nuioa_publisher *s, const char *key, pmix_data_type_t type);

/* A record is the keys of one rank, or with PMIX_RANK_WILDCARD those of the node. They are stored
 * together, because each call of PMIx wakes another thread and waits for it. A record takes
 * RECORD_KEYS keys; one with more keys is not stored, and record_store says so. */
#define RECORD_KEYS 12

struct record {
    uint32_t rank;  /* PMIx's rank, or PMIX_RANK_WILDCARD */
    unsigned count; /* how many entries are used; the first one holds the rank */
    pmix_info_t entries[1 + RECORD_KEYS];
    const char *refused; /* the first key for which there was no room; NULL: all had room */
    bool no_memory;      /* true: a value is missing */
};

/* Makes *record an empty record for `rank`. The caller frees what it will own with record_end. */
void record_begin(struct record *record, uint32_t rank);

/* Adds a key, which must live until the record is stored. A string of *value, or an array with its
 * elements, is one block that malloc made, and belongs to the record now, also if there is no room
 * for it. NULL instead of it means that there was no memory. Then, or if there is no room,
 * record_store fails. */
void record_add(struct record *record, const char *key, const pmix_value_t *value);

/* Does the same for a number and for a string. */
void record_add_u32(struct record *record, const char *key, uint32_t number);
void record_add_text(struct record *record, const char *key, char *text);

/* Returns an array of `count` elements of `size` bytes, all 0, which are of the PMIx type `type`.
 * It is one block that the caller frees with free, or adds to a record. NULL: no memory. */
pmix_data_array_t *record_array(pmix_data_type_t type, size_t count, size_t size);

/* Stores all keys in PMIx, which copies them. Returns 0; or negative with the reason in *s->err:
 * -EIO if PMIx refuses a key, and then the keys before it are stored; -ENOMEM if a value is
 * missing, or -ENOBUFS if the record was given more than RECORD_KEYS keys, and then none is
 * stored. */
int record_store(struct nuioa_publisher *s, struct record *record);

/* Frees what the record owns. The struct itself belongs to the caller. */
void record_end(struct record *record);

#endif
