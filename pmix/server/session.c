/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/server/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pmix/timed_call.h"
#include "util/clock.h"

/* --- whether PMIx answers -------------------------------------------------------------------- */

/* A question to PMIx. If it never answers, the thread that asks keeps this for ever. */
struct question {
    struct pmix_calls calls;
    pmix_proc_t proc;
};

/* The content of the answer does not matter. */
static void ask(void *question)
{
    const struct question *q = question;
    pmix_value_release(pmix_value_get(&q->calls, &q->proc, PMIX_LOCAL_PEERS, PMIX_STRING));
}

int session_await(struct nuioa_publisher *s)
{
    if (!s->patience_ms ||
        (s->answered_ms && nuioa_clock_ms() - s->answered_ms < (int64_t)s->patience_ms))
        return 0;
    struct question *q = malloc(sizeof(*q));
    if (!q)
        return nuioa_fail(s->err, -ENOMEM, "out of memory");
    q->calls = s->calls;
    pmix_proc_set(&q->proc, s->nspace, PMIX_RANK_WILDCARD);
    int rc = timed_call(ask, free, q, NULL, s->patience_ms);
    if (!rc)
        free(q);
    s->answered_ms = rc < 0 ? 0 : nuioa_clock_ms();
    if (rc == -ETIMEDOUT)
        return nuioa_fail(s->err, rc, "PMIx has not answered for %u ms", s->patience_ms);
    return rc < 0 ? nuioa_fail(s->err, rc, "no thread to ask PMIx: %s", strerror(-rc)) : 0;
}

static bool has(const struct nuioa_publisher *s, uint32_t rank, const char *key,
                pmix_data_type_t type)
{
    pmix_proc_t proc;
    pmix_proc_set(&proc, s->nspace, rank);
    pmix_value_t *value = pmix_value_get(&s->calls, &proc, key, type);
    bool found = value;
    pmix_value_release(value);
    return found;
}

bool session_has(const struct nuioa_publisher *s, const char *key, pmix_data_type_t type)
{
    return has(s, s->ranks[0], key, type);
}

/* --- storing --------------------------------------------------------------------------------- */

void record_begin(struct record *record, uint32_t rank)
{
    memset(record, 0, sizeof(*record));
    record->rank = rank;
    record_add(record, PMIX_RANK, &(pmix_value_t){ .type = PMIX_PROC_RANK, .data.rank = rank });
}

/* Returns the block that a value has; or NULL if it is a number, or there was no memory. */
static void *block_of(const pmix_value_t *value)
{
    return value->type == PMIX_STRING       ? (void *)value->data.string
           : value->type == PMIX_DATA_ARRAY ? value->data.darray
                                            : NULL;
}

void record_add(struct record *record, const char *key, const pmix_value_t *value)
{
    bool has_block = value->type == PMIX_STRING || value->type == PMIX_DATA_ARRAY;
    if (has_block && !block_of(value)) {
        record->no_memory = true;
    } else if (record->count > RECORD_KEYS) {
        record->refused = record->refused ? record->refused : key;
        free(block_of(value));
    } else {
        pmix_info_t *entry = &record->entries[record->count++];
        strncpy(entry->key, key, PMIX_MAX_KEYLEN);
        entry->value = *value;
    }
}

void record_add_u32(struct record *record, const char *key, uint32_t number)
{
    record_add(record, key, &(pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = number });
}

void record_add_text(struct record *record, const char *key, char *text)
{
    record_add(record, key, &(pmix_value_t){ .type = PMIX_STRING, .data.string = text });
}

pmix_data_array_t *record_array(pmix_data_type_t type, size_t count, size_t size)
{
    pmix_data_array_t *array = calloc(1, sizeof(*array) + count * size);
    if (array)
        *array = (pmix_data_array_t){ .type = type, .size = count, .array = array + 1 };
    return array;
}

void record_end(struct record *record)
{
    while (record->count)
        free(block_of(&record->entries[--record->count].value));
}

static int store_each(struct nuioa_publisher *s, struct record *record)
{
    pmix_proc_t proc;
    pmix_proc_set(&proc, s->nspace, record->rank);
    for (unsigned i = 1; i < record->count; i++) {
        pmix_info_t *entry = &record->entries[i];
        pmix_status_t status = s->calls.store(&proc, entry->key, &entry->value);
        if (status != PMIX_SUCCESS)
            return nuioa_fail(s->err, -EIO, "PMIx refuses the key %s: status %d", entry->key,
                              (int)status);
        s->stored++;
    }
    return 0;
}

/* Stores all keys of the rank in one call, as one PMIX_PROC_DATA array: mpi/pmix describes a rank
 * in this form when it registers the namespace. PMIx 4.2 to 6.1 also unpack the array when it is
 * stored. Another PMIx might store it as it is: so one key of the first record is read back.
 * Returns false if the keys have to be stored one by one. */
static bool store_whole(struct nuioa_publisher *s, struct record *record)
{
    const pmix_info_t *last = &record->entries[record->count - 1];
    pmix_data_array_t array = {
        .type = PMIX_INFO,
        .size = record->count,
        .array = record->entries,
    };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    pmix_proc_t proc;
    pmix_proc_set(&proc, s->nspace, record->rank);
    if (s->calls.store(&proc, PMIX_PROC_DATA, &value) != PMIX_SUCCESS)
        return false;
    if (!s->records_proven && !has(s, record->rank, last->key, last->value.type))
        return false;
    s->records_proven = true;
    s->stored += record->count - 1;
    return true;
}

int record_store(struct nuioa_publisher *s, struct record *record)
{
    if (record->no_memory)
        return nuioa_fail(s->err, -ENOMEM, "out of memory");
    if (record->refused)
        return nuioa_fail(s->err, -ENOBUFS,
                          "%s has no room among the %d keys that are stored for a rank: none is "
                          "stored; this is an error in nuioa, please report it",
                          record->refused, RECORD_KEYS);
    if (record->count < 2)
        return 0;
    if (!s->no_records && store_whole(s, record))
        return 0;
    s->no_records = true;
    return store_each(s, record);
}
