/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/client/advice.h"

#ifndef HAVE_PMIX

int advice_from_pmix(struct nuioa_client *advice)
{
    (void)advice;
    return 0;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmix/timed_call.h"
#include "pmix/value.h"

/* --- the libpmix of this process ------------------------------------------------------------- */

static int is_libpmix(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    const char *name = strrchr(info->dlpi_name, '/');
    if (strncmp(name ? name + 1 : info->dlpi_name, "libpmix.so", 10))
        return 0;
    *(char **)path = strdup(info->dlpi_name);
    return 1;
}

/* Returns a handle of the libpmix that this process has loaded, or NULL. MPI libraries load it with
 * RTLD_LOCAL: so it is searched for by name and opened again, without being loaded anew. */
static void *open_loaded(void)
{
    char *path = NULL;
    void *handle = NULL;
    if (dl_iterate_phdr(is_libpmix, &path) && path)
        handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    free(path);
    return handle;
}

/* --- keys ------------------------------------------------------------------------------------ */

/* All that a thread needs to ask PMIx. It may be left alone with it. */
struct reader {
    struct pmix_calls calls;
    pmix_proc_t all, own;
    struct nuioa_client advice; /* what was read */
    int rc;                     /* 0 or -ENOMEM */
    bool initialized;           /* PMIx was asked */
    atomic_uint answers;        /* how many keys it has answered */
};

/* Returns a reader for this process, which reader_free frees; NULL if PMIx has not started it, or
 * without memory. */
static struct reader *reader_new(void)
{
    const char *nspace = getenv("PMIX_NAMESPACE");
    uint32_t rank;
    if (!nspace || strlen(nspace) > PMIX_MAX_NSLEN || !getenv("PMIX_RANK") ||
        !advice_own_rank(&rank))
        return NULL;
    struct reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return NULL;
    pmix_proc_set(&reader->all, nspace, PMIX_RANK_WILDCARD);
    pmix_proc_set(&reader->own, nspace, rank);
    return reader;
}

static void reader_free(void *arg)
{
    struct reader *reader = arg;
    advice_clear(&reader->advice);
    free(reader);
}

/* Returns a value, which the caller frees; NULL: there is none of this type. */
static pmix_value_t *get(struct reader *reader, const pmix_proc_t *proc, const char *key,
                         pmix_data_type_t type)
{
    pmix_value_t *value = pmix_value_get(&reader->calls, proc, key, type);
    reader->answers++;
    return value;
}

/* Reads a number, a flag or a string, which PMIx has at the beginning of a value's data, into
 * *member. Returns false, and *member is unchanged, if there is none. */
static bool read_value(struct reader *reader, const pmix_proc_t *proc, const char *key,
                       pmix_data_type_t type, void *member, size_t size)
{
    pmix_value_t *value = get(reader, proc, key, type);
    if (!value)
        return false;
    memcpy(member, &value->data, size);
    if (type == PMIX_STRING)
        value->data.string = NULL; /* it is the caller's now */
    pmix_value_release(value);
    return true;
}
#define READ(reader, proc, key, type, member) \
    read_value(reader, &(reader)->proc, key, type, member, sizeof(*(member)))

static int read_list(struct reader *reader, const char *key, struct rank_list *list)
{
    pmix_value_t *value = get(reader, &reader->all, key, PMIX_DATA_ARRAY);
    const pmix_data_array_t *array = value ? value->data.darray : NULL;
    int rc = 0;
    if (array && array->type == PMIX_PROC_RANK && array->size && array->array) {
        list->ranks = malloc(array->size * sizeof(*list->ranks));
        rc = list->ranks ? 0 : -ENOMEM;
        list->count = rc ? 0 : array->size;
        if (!rc)
            memcpy(list->ranks, array->array, array->size * sizeof(*list->ranks));
    }
    pmix_value_release(value);
    return rc;
}

static int read_advice(struct reader *r, struct nuioa_client *advice)
{
    uint32_t version;
    char *gpu_nics = NULL;
    if (!READ(r, all, "nuioa.version", PMIX_UINT32, &version) || !version)
        return 0;
    advice->source = NUIOA_CLIENT_PMIX;
    READ(r, all, "nuioa.planned", PMIX_BOOL, &advice->planned);
    advice->has_leader = READ(r, all, "nuioa.leader", PMIX_PROC_RANK, &advice->leader);
    READ(r, all, "nuioa.near", PMIX_UINT32, &advice->near);
    advice->has_level = READ(r, own, "nuioa.level", PMIX_UINT32, &advice->level);
    advice->has_weight = READ(r, own, "nuioa.weight", PMIX_DOUBLE, &advice->weight);
    READ(r, own, "nuioa.nic", PMIX_STRING, &advice->nic);
    READ(r, own, "nuioa.cpus", PMIX_STRING, &advice->cpus);
    int rc = read_list(r, "nuioa.order", &advice->order);
    if (!rc)
        rc = read_list(r, "nuioa.rail_leaders", &advice->rails);
    READ(r, own, "nuioa.nics", PMIX_STRING, &advice->nics);
    READ(r, own, "nuioa.gpus", PMIX_STRING, &advice->gpus);
    if (!rc && READ(r, own, "nuioa.gpu_nics", PMIX_STRING, &gpu_nics) && gpu_nics)
        rc = gpu_nics_parse(&advice->gpu_nics, gpu_nics);
    free(gpu_nics);
    return rc;
}

/* --- whether PMIx answers -------------------------------------------------------------------- */

/* PMIx answers in a thread of its own, which a child of fork() does not have: there PMIx_Get never
 * returns, and locks of libpmix and of the loader may be held for ever. So all is asked in a thread
 * that is left alone if it hangs. Once all was answered in this process, no thread is needed. */
#define PATIENCE_MS 900 /* for an answer: a rank on a busy node has time to get all */

static atomic_int answers_in; /* the process in which PMIx has answered; 0: none */
static atomic_bool silent;    /* it has not answered here, or in a process that forked this one */

/* Returns true if this process has one thread only: PMIx has none then, and the wait is spared.
 * Linux counts threads as links of the directory. */
static bool is_single(void)
{
    struct stat threads;
    return !stat("/proc/self/task", &threads) && threads.st_nlink == 3;
}

static void ask(void *arg)
{
    struct reader *r = arg;
    void *handle = open_loaded();
    if (!handle)
        return;
    pmix_calls_find(&r->calls, handle);
    r->initialized = r->calls.get && r->calls.initialized && r->calls.initialized();
    if (r->initialized)
        r->rc = read_advice(r, &r->advice);
    dlclose(handle);
}

/* Returns false if there was no answer; then the reader is not the caller's any more. */
static bool ask_in_time(struct reader *reader)
{
    int rc = 0;
    if (answers_in == getpid())
        ask(reader);
    else
        rc = timed_call(ask, reader_free, reader, &reader->answers, PATIENCE_MS);
    if (rc == -ETIMEDOUT)
        silent = true;
    else if (!rc && reader->initialized)
        answers_in = getpid();
    return !rc;
}

int advice_from_pmix(struct nuioa_client *advice)
{
    struct reader *reader = silent || is_single() ? NULL : reader_new();
    if (!reader || !ask_in_time(reader))
        return 0;
    *advice = reader->advice;
    int rc = reader->rc;
    free(reader);
    return rc;
}

#endif
