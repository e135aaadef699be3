/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_SERVER_SESSION_H
#define NUIOA_PMIX_SERVER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix/server/publish.h"
#include "pmix/value.h"
#include "util/error.h"

/* Private: the PMIx server of this process, and the step in it whose keys are stored. */

struct nuioa_publisher {
    struct pmix_calls calls;
    unsigned patience_ms; /* with a PMIx that does not answer; 0: for ever */
    int64_t answered_ms;  /* when it answered last, by the monotonic clock */
    char nspace[NUIOA_NAMESPACE_SIZE];
    uint32_t count;      /* local tasks */
    uint32_t *ranks;     /* [count]: PMIx's, by local rank */
    uint32_t stored;     /* keys */
    uint32_t time_us;    /* spent */
    bool no_records;     /* this PMIx does not take a rank's keys in one call */
    bool records_proven; /* it does */
    struct nuioa_error *err;
};

/* Waits until PMIx answers, which is a reason to believe that it answers what is asked next. It is
 * asked again when its last answer is older than patience_ms: each question costs a launch a
 * thread. 0, or -ETIMEDOUT or
 * -EAGAIN (no thread) with s->err. Where it does not answer a thread stays behind, so whoever links
 * this must not
 * be unloaded (-z nodelete). */
int session_await(struct nuioa_publisher *s);

/* Whether Slurm gave this key to the first local rank. It treats all ranks alike. */
bool session_has(const struct nuioa_publisher *s, const char *key, pmix_data_type_t type);

/* The keys of one rank, or with PMIX_RANK_WILDCARD those of the node, to be stored together: each
 * call of PMIx wakes another thread and waits for it. */
#define RECORD_KEYS 10

struct record {
    uint32_t rank;
    unsigned count; /* entries used; the first says the rank */
    pmix_info_t entries[1 + RECORD_KEYS];
    unsigned owned_count;
    void *owned[RECORD_KEYS];
};

void record_begin(struct record *record, uint32_t rank);

/* Adds a key. What `value` points to must live until the record is stored. */
void record_add(struct record *record, const char *key, const pmix_value_t *value);

/* The record takes the string over. False if `text` is NULL. */
bool record_add_text(struct record *record, const char *key, char *text);

/* A copy of ranks[which[i]], or of ranks[i] where `which` is NULL. False without memory. */
bool record_add_ranks(struct record *record, const char *key, const pmix_rank_t *ranks,
                      const uint32_t *which, uint32_t count);

/* Stores all keys: 0, or -EIO with s->err. Then record_end. */
int record_store(struct nuioa_publisher *s, struct record *record);
void record_end(struct record *record);

#endif
