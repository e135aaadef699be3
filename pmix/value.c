/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/value.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ISO C has no cast from an object pointer to a function pointer, but POSIX allows to copy it. */
static void find(void *function, void *handle, const char *name)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof(symbol));
}

void pmix_calls_find(struct pmix_calls *calls, void *handle)
{
    find(&calls->get, handle, "PMIx_Get");
    find(&calls->store, handle, "PMIx_Store_internal");
    find(&calls->initialized, handle, "PMIx_Initialized");
    find(&calls->version, handle, "PMIx_Get_version");
}

unsigned pmix_calls_version(const struct pmix_calls *calls)
{
    const char *text = calls->version ? calls->version() : NULL;
    unsigned major = 0, minor = 0;
    if (!text || !(text = strpbrk(text, "0123456789")) ||
        sscanf(text, "%3u.%3u", &major, &minor) < 1)
        return 0;
    return major * 100 + (minor < 100 ? minor : 99);
}

void pmix_proc_set(pmix_proc_t *proc, const char *nspace, uint32_t rank)
{
    memset(proc, 0, sizeof(*proc));
    strncpy(proc->nspace, nspace, PMIX_MAX_NSLEN);
    proc->rank = rank;
}

pmix_value_t *pmix_value_get(const struct pmix_calls *calls, const pmix_proc_t *proc,
                             const char *key, pmix_data_type_t type)
{
    const pmix_info_t optional = {
        .key = PMIX_OPTIONAL,
        .value = { .type = PMIX_BOOL, .data.flag = true },
    };
    pmix_value_t *value = NULL;
    if (calls->get(proc, key, &optional, 1, &value) != PMIX_SUCCESS)
        return NULL;
    if (!value || value->type == type)
        return value;
    pmix_value_release(value);
    return NULL;
}

static void release_array(pmix_data_array_t *array)
{
    if (!array)
        return;
    if (array->type == PMIX_DEVICE_DIST && array->array) {
        pmix_device_distance_t *distance = array->array;
        for (size_t i = 0; i < array->size; i++) {
            free(distance[i].uuid);
            free(distance[i].osname);
        }
    }
    free(array->array);
    free(array);
}

void pmix_value_release(pmix_value_t *value)
{
    if (!value)
        return;
    if (value->type == PMIX_STRING)
        free(value->data.string);
    else if (value->type == PMIX_DATA_ARRAY)
        release_array(value->data.darray);
    free(value);
}
