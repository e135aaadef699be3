#ifndef PMIX_SESSION_H
#define PMIX_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "publish.h"
#include "value.h"

/* Private: the PMIx server of this process, and the step in it whose keys are stored. */

struct session {
    struct pmix_calls calls;
    const char *nspace;  /* points into the candidates */
    uint32_t count;      /* local tasks */
    uint32_t *ranks;     /* [count]: PMIx's, by local rank */
    uint32_t stored;     /* keys */
    bool no_records;     /* this PMIx does not take a rank's keys in one call */
    bool records_proven; /* it does */
    struct nuioa_error *err;
};

/* 1: open; 0: there is no PMIx here; or negative with *err. Close it in each case. */
int session_open(struct session *s, const struct nuioa_namespaces *namespaces, uint32_t count,
                 struct nuioa_error *err);
void session_close(struct session *s);

/* Whether Slurm gave this key to the first local rank. It treats all ranks alike. */
bool session_has(const struct session *s, const char *key, pmix_data_type_t type);

/* Stores one key; PMIx copies the value. 0, or -EIO with s->err. */
int session_store(struct session *s, uint32_t rank, const char *key, pmix_value_t *value);

/* A rank's keys, to be stored together: each call of PMIx wakes another thread and waits for it. */
#define RECORD_KEYS 10

struct record {
    uint32_t rank;
    unsigned count; /* entries used; the first says the rank */
    pmix_info_t entries[1 + RECORD_KEYS];
    unsigned text_count;
    char *texts[RECORD_KEYS];
};

void record_begin(struct record *record, uint32_t rank);

/* Adds a key. What `value` points to must live until the record is stored. */
void record_add(struct record *record, const char *key, const pmix_value_t *value);

/* Adds a string, which the record takes over. False if `text` is NULL. */
bool record_add_text(struct record *record, const char *key, char *text);

/* Stores all keys: 0, or -EIO with s->err. Then record_end. */
int record_store(struct session *s, struct record *record);
void record_end(struct record *record);

#endif
