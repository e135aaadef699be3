/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/server/session.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pmix/timed_call.h"
#include "util/clock.h"
#include "util/number.h"

/* --- the step as PMIx knows it --------------------------------------------------------------- */

static bool is_usable(const struct pmix_calls *calls)
{
    return calls->get && calls->store && calls->initialized && calls->initialized();
}

/* Reads exactly `count` ranks from a list such as "4,5,6". Returns 0, or -EINVAL. */
static int parse_peers(const char *text, uint32_t count, uint32_t *ranks)
{
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        size_t length = strcspn(text, ",");
        if (length >= sizeof(number))
            return -EINVAL;
        memcpy(number, text, length);
        number[length] = '\0';
        if (nuioa_parse_u32(number, PMIX_RANK_VALID, &ranks[i]) < 0 ||
            (text[length] == ',') != (i + 1 < count))
            return -EINVAL;
        text += length + 1;
    }
    return 0;
}

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
    pmix_value_t *value;
    if (!pmix_value_get(&q->calls, &q->proc, PMIX_LOCAL_PEERS, PMIX_STRING, &value))
        pmix_value_release(value);
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

/* Tries the names until PMIx knows one. This is needed because PMIx_Store_internal also succeeds
 * for a namespace that does not exist; the value is lost then. */
static int find_namespace(struct nuioa_publisher *s, const struct nuioa_namespaces *namespaces,
                          struct nuioa_error *err)
{
    for (unsigned i = 0; i < namespaces->count; i++) {
        pmix_proc_t all;
        pmix_value_t *peers;
        pmix_proc_set(&all, namespaces->names[i], PMIX_RANK_WILDCARD);
        if (pmix_value_get(&s->calls, &all, PMIX_LOCAL_PEERS, PMIX_STRING, &peers) < 0)
            continue;
        const char *text = peers->data.string ? peers->data.string : "";
        int rc = parse_peers(text, s->count, s->ranks);
        nuioa_copy(s->nspace, sizeof(s->nspace), namespaces->names[i]);
        if (rc < 0)
            nuioa_fail(err, rc, "PMIx has other ranks on this node (%.60s) than Slurm (%u of them)",
                       text, s->count);
        pmix_value_release(peers);
        return rc;
    }
    return nuioa_fail(err, -ENOENT, "PMIx does not know this step as %s",
                      namespaces->count ? namespaces->names[0] : "anything");
}

static int open_step(struct nuioa_publisher *s, const struct nuioa_namespaces *namespaces,
                     struct nuioa_error *err)
{
    s->err = err;
    nuioa_copy(s->nspace, sizeof(s->nspace), namespaces->names[0]);
    int rc = session_await(s);
    return rc < 0 ? rc : find_namespace(s, namespaces, err);
}

int session_open(const struct nuioa_namespaces *namespaces, uint32_t task_count,
                 unsigned patience_ms, struct nuioa_publisher **publisher, struct nuioa_error *err)
{
    struct pmix_calls calls;
    *publisher = NULL;
    pmix_calls_find(&calls, RTLD_DEFAULT);
    if (!is_usable(&calls) || !task_count)
        return 0;
    struct nuioa_publisher *s = calloc(1, sizeof(*s));
    if (s) {
        s->calls = calls;
        s->patience_ms = patience_ms;
        s->count = task_count;
        s->ranks = calloc(task_count, sizeof(*s->ranks));
    }
    int rc =
        s && s->ranks ? open_step(s, namespaces, err) : nuioa_fail(err, -ENOMEM, "out of memory");
    if (rc < 0) {
        session_close(s);
        return rc;
    }
    *publisher = s;
    return 1;
}

void session_close(struct nuioa_publisher *s)
{
    if (s)
        free(s->ranks);
    free(s);
}

static bool has(const struct nuioa_publisher *s, uint32_t rank, const char *key,
                pmix_data_type_t type)
{
    pmix_proc_t proc;
    pmix_value_t *value;
    pmix_proc_set(&proc, s->nspace, rank);
    if (pmix_value_get(&s->calls, &proc, key, type, &value) < 0)
        return false;
    pmix_value_release(value);
    return true;
}

bool session_has(const struct nuioa_publisher *s, const char *key, pmix_data_type_t type)
{
    return has(s, s->ranks[0], key, type);
}

/* --- storing --------------------------------------------------------------------------------- */

/* Stores one key. PMIx copies the value. */
static int store(struct nuioa_publisher *s, uint32_t rank, const char *key, pmix_value_t *value)
{
    pmix_proc_t proc;
    pmix_proc_set(&proc, s->nspace, rank);
    pmix_status_t status = s->calls.store(&proc, key, value);
    if (status != PMIX_SUCCESS)
        return nuioa_fail(s->err, -EIO, "PMIx refuses the key %s: status %d", key, (int)status);
    s->stored++;
    return 0;
}

static void refuse(struct record *record, const char *key)
{
    if (!record->refused)
        record->refused = key;
}

void record_begin(struct record *record, uint32_t rank)
{
    memset(record, 0, sizeof(*record));
    record->rank = rank;
    pmix_value_t value = { .type = PMIX_PROC_RANK, .data.rank = rank };
    record_add(record, PMIX_RANK, &value);
}

void record_add(struct record *record, const char *key, const pmix_value_t *value)
{
    if (record->count > RECORD_KEYS) {
        refuse(record, key);
        return;
    }
    pmix_info_t *entry = &record->entries[record->count];
    strncpy(entry->key, key, PMIX_MAX_KEYLEN);
    entry->value = *value;
    record->count++;
}

/* Makes the record the owner of the memory that `value` points to. Memory of a key for which there
 * is no room is freed at once. */
static void add_owned(struct record *record, const char *key, const pmix_value_t *value,
                      void *memory)
{
    if (record->owned_count == RECORD_KEYS) {
        refuse(record, key);
        free(memory);
        return;
    }
    record->owned[record->owned_count++] = memory;
    record_add(record, key, value);
}

bool record_add_text(struct record *record, const char *key, char *text)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };
    if (!text)
        return false;
    add_owned(record, key, &value, text);
    return true;
}

bool record_add_ranks(struct record *record, const char *key, const pmix_rank_t *ranks,
                      const uint32_t *which, uint32_t count)
{
    pmix_data_array_t *array = malloc(sizeof(*array) + count * sizeof(*ranks));
    if (!array)
        return false;
    pmix_rank_t *copy = (pmix_rank_t *)(array + 1);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = ranks[which[i]];
    *array = (pmix_data_array_t){ .type = PMIX_PROC_RANK, .size = count, .array = copy };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = array };
    add_owned(record, key, &value, array);
    return true;
}

void record_end(struct record *record)
{
    while (record->owned_count)
        free(record->owned[--record->owned_count]);
}

static int store_each(struct nuioa_publisher *s, struct record *record)
{
    int rc = 0;
    for (unsigned i = 1; i < record->count && !rc; i++)
        rc = store(s, record->rank, record->entries[i].key, &record->entries[i].value);
    return rc;
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
