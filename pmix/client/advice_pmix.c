/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/client/advice_pmix.h"

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

/* Does what pmix_value_get does. */
static int get(struct reader *reader, const pmix_proc_t *proc, const char *key,
               pmix_data_type_t type, pmix_value_t **value)
{
    int rc = pmix_value_get(&reader->calls, proc, key, type, value);
    reader->answers++;
    return rc;
}

/* Reads a number of 32 bits, which was published as a PMIX_UINT32 or as a PMIX_PROC_RANK. */
static bool read_u32(struct reader *reader, const pmix_proc_t *proc, const char *key,
                     pmix_data_type_t type, uint32_t *number)
{
    pmix_value_t *value;
    if (get(reader, proc, key, type, &value) < 0)
        return false;
    *number = type == PMIX_PROC_RANK ? value->data.rank : value->data.uint32;
    pmix_value_release(value);
    return true;
}

static bool read_double(struct reader *reader, const char *key, double *number)
{
    pmix_value_t *value;
    if (get(reader, &reader->own, key, PMIX_DOUBLE, &value) < 0)
        return false;
    *number = value->data.dval;
    pmix_value_release(value);
    return true;
}

static void read_string(struct reader *reader, const char *key, char **text)
{
    pmix_value_t *value;
    if (get(reader, &reader->own, key, PMIX_STRING, &value) < 0)
        return;
    *text = value->data.string;
    value->data.string = NULL;
    pmix_value_release(value);
}

static int read_list(struct reader *reader, const char *key, struct rank_list *list)
{
    pmix_value_t *value;
    int rc = 0;
    if (get(reader, &reader->all, key, PMIX_DATA_ARRAY, &value) < 0)
        return 0;
    const pmix_data_array_t *array = value->data.darray;
    if (array && array->type == PMIX_PROC_RANK && array->size && array->array) {
        list->ranks = malloc(array->size * sizeof(*list->ranks));
        rc = list->ranks ? 0 : -ENOMEM;
    }
    if (!rc && list->ranks) {
        /* The ranks are there only if there is an array.
         * NOLINTNEXTLINE(clang-analyzer-core.*) */
        memcpy(list->ranks, array->array, array->size * sizeof(*list->ranks));
        list->count = array->size;
    }
    pmix_value_release(value);
    return rc;
}

static bool read_flag(struct reader *reader, const char *key)
{
    pmix_value_t *value;
    if (get(reader, &reader->all, key, PMIX_BOOL, &value) < 0)
        return false;
    bool flag = value->data.flag;
    pmix_value_release(value);
    return flag;
}

static int read_gpu_nics(struct reader *reader, struct gpu_nics *gpu_nics)
{
    char *text = NULL;
    read_string(reader, "nuioa.gpu_nics", &text);
    int rc = text ? gpu_nics_parse(gpu_nics, text) : 0;
    free(text);
    return rc;
}

static int read_advice(struct reader *r, struct nuioa_client *advice)
{
    uint32_t version;
    if (!read_u32(r, &r->all, "nuioa.version", PMIX_UINT32, &version) || !version)
        return 0;
    advice->source = NUIOA_CLIENT_PMIX;
    advice->planned = read_flag(r, "nuioa.planned");
    advice->has_leader = read_u32(r, &r->all, "nuioa.leader", PMIX_PROC_RANK, &advice->leader);
    read_u32(r, &r->all, "nuioa.near", PMIX_UINT32, &advice->near);
    advice->has_level = read_u32(r, &r->own, "nuioa.level", PMIX_UINT32, &advice->level);
    advice->has_weight = read_double(r, "nuioa.weight", &advice->weight);
    read_string(r, "nuioa.nic", &advice->nic);
    read_string(r, "nuioa.cpus", &advice->cpus);
    int rc = read_list(r, "nuioa.order", &advice->order);
    if (!rc)
        rc = read_list(r, "nuioa.rail_leaders", &advice->rails);
    read_string(r, "nuioa.nics", &advice->nics);
    read_string(r, "nuioa.gpus", &advice->gpus);
    return rc ? rc : read_gpu_nics(r, &advice->gpu_nics);
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
