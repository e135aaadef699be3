/* SPDX-License-Identifier: BSD-3-Clause */
#include <pmix_common.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "stand_in.h"

/* A PMIx server that knows one step and remembers the keys that were stored. The plugin finds these
 * functions by name. */

#define KEYS_MAX 256

static struct {
    uint32_t rank;
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_data_type_t type;
} stored[KEYS_MAX];
static unsigned stored_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value);
pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char *key, pmix_value_t *value);
int PMIx_Initialized(void);
const char *PMIx_Get_version(void);

int PMIx_Initialized(void)
{
    return !fault_hits(FAULT_PMIX, 0) && stand_in.pmix_runs &&
           stand_in.variant->pmix != PMIX_ABSENT;
}

const char *PMIx_Get_version(void)
{
    if (fault_hits(FAULT_PMIX, 0))
        return NULL;
    return stand_in.variant->pmix == PMIX_NUMBERS ? "OpenPMIx 5.0.7, repo rev: v5.0.7"
                                                  : "OpenPMIx 4.2.2, repo rev: v4.2.2";
}

/* The ranks of this node as PMIx counts them: those of the whole step. */
static char *local_peers(void)
{
    const struct variant *v = stand_in.variant;
    char text[128];
    size_t used = 0;
    for (unsigned i = 0; i < variant_tasks(v) + (v->pmix == PMIX_STRANGER); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? "," : "",
                                 stand_in.node * variant_tasks(v) + i);
    return strdup(text);
}

static bool is_stored(const pmix_proc_t *proc, const char *key, pmix_data_type_t *type)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < stored_count && !found; i++)
        if (stored[i].rank == proc->rank && !strcmp(stored[i].key, key)) {
            *type = stored[i].type;
            found = true;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

static void keep(uint32_t rank, const char *key, const pmix_value_t *value)
{
    pthread_mutex_lock(&lock);
    if (stored_count < KEYS_MAX) {
        stored[stored_count].rank = rank;
        snprintf(stored[stored_count].key, sizeof(stored->key), "%s", key);
        stored[stored_count++].type = value->type;
    }
    pthread_mutex_unlock(&lock);
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value)
{
    char expected[64];
    bool peers = !strcmp(key, PMIX_LOCAL_PEERS);
    pmix_data_type_t type = PMIX_STRING;
    (void)info, (void)count;
    if (fault_hits(FAULT_PMIX, 0))
        return PMIX_ERR_TIMEOUT;
    while (stand_in.variant->pmix == PMIX_SILENT)
        pause();
    snprintf(expected, sizeof(expected), "slurm.pmix.%d.%d", JOB, STEP);
    if (stand_in.variant->pmix == PMIX_UNKNOWN || strcmp(proc->nspace, expected) ||
        (!peers && !is_stored(proc, key, &type)))
        return PMIX_ERR_NOT_FOUND;
    fault_pause();
    *value = calloc(1, sizeof(**value));
    if (!*value)
        abort();
    (*value)->type = type;
    if (type == PMIX_STRING)
        (*value)->data.string = peers ? local_peers() : strdup("text");
    fault_resume();
    ledger_add(*value, (void *)PMIx_Get);
    if (type == PMIX_STRING)
        ledger_add((*value)->data.string, (void *)PMIx_Get);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char *key, pmix_value_t *value)
{
    if (fault_hits(FAULT_PMIX, 0) || stand_in.variant->pmix == PMIX_FULL)
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (strcmp(key, PMIX_PROC_DATA)) {
        keep(proc->rank, key, value);
        return PMIX_SUCCESS;
    }
    if (stand_in.variant->pmix == PMIX_SPLITS)
        return PMIX_SUCCESS;
    const pmix_data_array_t *array = value->data.darray;
    const pmix_info_t *entries = array->array;
    for (size_t i = 0; i < array->size; i++)
        keep(proc->rank, entries[i].key, &entries[i].value);
    return PMIX_SUCCESS;
}
