#include "session.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

/* --- the step, as PMIx has it ---------------------------------------------------------------- */

static bool is_there(const struct pmix_calls *calls)
{
    return calls->get && calls->store && calls->initialized && calls->initialized();
}

/* "4,5,6": as many as `count` says. */
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

/* Storing under a name that PMIx does not know succeeds and is lost, hence the question. */
static int find_namespace(struct session *s, const struct nuioa_namespaces *namespaces)
{
    for (unsigned i = 0; i < namespaces->count; i++) {
        pmix_proc_t all;
        pmix_value_t *peers;
        pmix_proc_set(&all, namespaces->names[i], PMIX_RANK_WILDCARD);
        if (pmix_value_get(&s->calls, &all, PMIX_LOCAL_PEERS, PMIX_STRING, &peers) < 0)
            continue;
        const char *text = peers->data.string ? peers->data.string : "";
        int rc = parse_peers(text, s->count, s->ranks);
        s->nspace = namespaces->names[i];
        if (rc < 0)
            nuioa_fail(s->err, rc,
                       "PMIx has other ranks on this node (%.60s) than Slurm (%u of them)", text,
                       s->count);
        pmix_value_release(peers);
        return rc;
    }
    return nuioa_fail(s->err, -ENOENT, "PMIx does not know this step as %s",
                      namespaces->count ? namespaces->names[0] : "anything");
}

int session_open(struct session *s, const struct nuioa_namespaces *namespaces, uint32_t count,
                 struct nuioa_error *err)
{
    *s = (struct session){ .count = count, .err = err };
    pmix_calls_find(&s->calls, RTLD_DEFAULT);
    if (!is_there(&s->calls) || !count)
        return 0;
    s->ranks = calloc(count, sizeof(*s->ranks));
    if (!s->ranks)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    int rc = find_namespace(s, namespaces);
    return rc < 0 ? rc : 1;
}

void session_close(struct session *s)
{
    free(s->ranks);
    s->ranks = NULL;
}

static bool has(const struct session *s, uint32_t rank, const char *key, pmix_data_type_t type)
{
    pmix_proc_t proc;
    pmix_value_t *value;
    pmix_proc_set(&proc, s->nspace, rank);
    if (pmix_value_get(&s->calls, &proc, key, type, &value) < 0)
        return false;
    pmix_value_release(value);
    return true;
}

bool session_has(const struct session *s, const char *key, pmix_data_type_t type)
{
    return has(s, s->ranks[0], key, type);
}

/* --- storing --------------------------------------------------------------------------------- */

int session_store(struct session *s, uint32_t rank, const char *key, pmix_value_t *value)
{
    pmix_proc_t proc;
    pmix_proc_set(&proc, s->nspace, rank);
    pmix_status_t status = s->calls.store(&proc, key, value);
    if (status != PMIX_SUCCESS)
        return nuioa_fail(s->err, -EIO, "PMIx does not take %s: status %d", key, (int)status);
    s->stored++;
    return 0;
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
    pmix_info_t *entry = &record->entries[record->count];
    if (record->count > RECORD_KEYS)
        return;
    strncpy(entry->key, key, PMIX_MAX_KEYLEN);
    entry->value = *value;
    record->count++;
}

bool record_add_text(struct record *record, const char *key, char *text)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };
    if (!text || record->text_count == RECORD_KEYS) {
        free(text);
        return false;
    }
    record->texts[record->text_count++] = text;
    record_add(record, key, &value);
    return true;
}

void record_end(struct record *record)
{
    while (record->text_count)
        free(record->texts[--record->text_count]);
}

static int store_each(struct session *s, struct record *record)
{
    int rc = 0;
    for (unsigned i = 1; i < record->count && !rc; i++)
        rc = session_store(s, record->rank, record->entries[i].key, &record->entries[i].value);
    return rc;
}

/* As mpi/pmix describes a rank when it registers the namespace. PMIx 4.2 to 6.1 unpack it on this
 * way too; one that stores it unopened is found out by asking for a key of the first record. */
static bool store_whole(struct session *s, struct record *record)
{
    const pmix_info_t *last = &record->entries[record->count - 1];
    pmix_data_array_t array = { .type = PMIX_INFO,
                                .size = record->count,
                                .array = record->entries };
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

int record_store(struct session *s, struct record *record)
{
    if (record->count < 2)
        return 0;
    if (!s->no_records && store_whole(s, record))
        return 0;
    s->no_records = true;
    return store_each(s, record);
}
