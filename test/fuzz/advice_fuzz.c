/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_common.h>

#include "input.h"
#include "pmix/client/device_numa.h"
#include "pmix/client/nuioa-client.h"

/* libnuioa-client reads a rank's environment, or PMIx's values. The input is the name of
 * a device in a line, perhaps with its NUMA node, the lines of the environment up to an empty one,
 * and the values of PMIx, one after the other as the library asks for them: a byte for what the
 * answer is, and its bytes. Without such bytes there is no PMIx.
 *
 * PMIx is this program: the linker replaces the calls by which the library finds libpmix, and that
 * which waits for an answer. */

enum { VARIABLES_MAX = 32, RANKS_MAX = 64 };

static struct input *values; /* NULL: no PMIx */

int __wrap_dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *arg);
int __real_dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *arg);
void *__wrap_dlopen(const char *path, int flags);
void *__real_dlopen(const char *path, int flags);

int __wrap_dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    struct dl_phdr_info info = { .dlpi_name = "/usr/lib/libpmix.so.2" };
    return values ? each(&info, sizeof(info), arg) : __real_dl_iterate_phdr(each, arg);
}

void *__wrap_dlopen(const char *path, int flags)
{
    return values ? __real_dlopen(NULL, RTLD_LAZY) : __real_dlopen(path, flags);
}

int __wrap_timed_call(void (*work)(void *data), void (*drop)(void *data), void *data,
                      const atomic_uint *progress, unsigned ms);

int __wrap_timed_call(void (*work)(void *data), void (*drop)(void *data), void *data,
                      const atomic_uint *progress, unsigned ms)
{
    (void)drop, (void)progress, (void)ms;
    work(data);
    return 0;
}

static void *sleep_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* PMIx is not asked in a process without a thread that could answer. */
static void have_thread(void)
{
    static pthread_t thread;
    if (!thread && pthread_create(&thread, NULL, sleep_for_ever, NULL))
        abort();
}

/* --- PMIx ------------------------------------------------------------------------------------- */

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value);
int PMIx_Initialized(void);

int PMIx_Initialized(void)
{
    return !(input_byte(values) & 1);
}

static pmix_data_array_t *make_array(void)
{
    pmix_data_array_t *array = calloc(1, sizeof(*array));
    uint8_t count = input_byte(values);
    array->type = count & 128 ? PMIX_UINT32 : PMIX_PROC_RANK;
    array->size = count % RANKS_MAX;
    array->array = count & 64 ? NULL : calloc(array->size + 1, sizeof(uint32_t));
    if (array->array)
        for (size_t i = 0; i < array->size; i++)
            ((uint32_t *)array->array)[i] = input_byte(values);
    return array;
}

/* The answer is of the type that is asked for most often with this key, unless the byte says
 * another one. */
static pmix_data_type_t type_of(const char *key, uint8_t how)
{
    static const struct {
        const char *key;
        pmix_data_type_t type;
    } types[] = {
        { "nuioa.planned", PMIX_BOOL },
        { "nuioa.leader", PMIX_PROC_RANK },
        { "nuioa.weight", PMIX_DOUBLE },
        { "nuioa.nic", PMIX_STRING },
        { "nuioa.cpus", PMIX_STRING },
        { "nuioa.order", PMIX_DATA_ARRAY },
        { "nuioa.rail_leaders", PMIX_DATA_ARRAY },
        { "nuioa.nics", PMIX_STRING },
        { "nuioa.gpus", PMIX_STRING },
        { "nuioa.gpu_nics", PMIX_STRING },
    };
    for (unsigned i = 0; i < sizeof(types) / sizeof(*types) && !(how & 2); i++)
        if (!strcmp(key, types[i].key))
            return types[i].type;
    return PMIX_UINT32;
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value)
{
    uint8_t how = input_byte(values);
    (void)proc, (void)info, (void)count;
    if (how & 1)
        return PMIX_ERR_NOT_FOUND;
    pmix_value_t *made = *value = calloc(1, sizeof(**value));
    made->type = type_of(key, how);
    switch (made->type) {
    case PMIX_STRING:
        made->data.string = how & 4    ? NULL
                            : how & 8  ? strdup("")
                            : how & 16 ? strdup("0000:1b:00.0=mlx5_0:1+mlx5_1:1")
                                       : strdup("mlx5_0");
        break;
    case PMIX_DATA_ARRAY: made->data.darray = how & 4 ? NULL : make_array(); break;
    case PMIX_DOUBLE: input_fill(values, &made->data.dval, sizeof(double)); break;
    case PMIX_BOOL: made->data.flag = how & 4; break;
    default: made->data.uint32 = input_byte(values); break;
    }
    return PMIX_SUCCESS;
}

/* A device of sysfs, if the name is that of this one: what follows a blank is its NUMA node. */
static void ask_device(char *name)
{
    char *numa = strchr(name, ' ');
    if (numa) {
        *numa++ = '\0';
        input_file("sys/class/infiniband/mlx5_0/numa_node", numa, strlen(numa));
    } else {
        input_no_file("sys/class/infiniband/mlx5_0/numa_node");
    }
    device_numa(numa ? input_directory() : "/nowhere", name);
}

/* --- the rank --------------------------------------------------------------------------------- */

static void ask(const struct nuioa_client *client)
{
    static const uint32_t some[] = { 9, 1, 4, 0, 2 };
    uint32_t rank, indexes[5];
    const uint32_t *ranks;
    double weight;
    uint64_t vote[2];
    const char *nics;
    size_t count = nuioa_client_order(client, &ranks);
    for (size_t i = 0; i < count; i++)
        rank = ranks[i];
    count = nuioa_client_rail_leaders(client, &ranks);
    for (size_t i = 0; i < count; i++)
        rank = ranks[i];
    int best = nuioa_client_best(client, some, 5);
    INPUT_CHECK(best < 5 && nuioa_client_near(client, some, 5, indexes) <= 5);
    INPUT_CHECK(nuioa_client_leader(client, &rank) == 0 || best < 0);
    nuioa_client_weight(client, &weight);
    nuioa_client_level(client);
    nuioa_client_is_planned(client);
    if (nuioa_client_nic(client))
        INPUT_CHECK(strlen(nuioa_client_nic(client)) < 65536);
    if (nuioa_client_nics(client))
        INPUT_CHECK(strlen(nuioa_client_nics(client)) < 65536);
    if (nuioa_client_gpus(client))
        INPUT_CHECK(strlen(nuioa_client_gpus(client)) < 65536);
    if (!nuioa_client_nics_of_gpu(client, "1b:00.0", &nics))
        INPUT_CHECK(*nics && !strchr(nics, '+') && !strchr(nics, ';'));
    nuioa_client_nics_of_gpu(client, "GPU-8932f937", &nics);
    nuioa_client_nics_of_gpu(client, nuioa_client_nic(client), &nics);
    if (nuioa_client_cpus(client))
        INPUT_CHECK(strlen(nuioa_client_cpus(client)) < 65536);
    nuioa_client_vote(client, NUIOA_CLIENT_NODE, vote);
    nuioa_client_agreed(vote);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    char *device = input_line(&in), *own[VARIABLES_MAX + 1] = { NULL }, **before = environ;
    unsigned count = 0;
    have_thread();
    ask_device(device);
    while (in.size && count < VARIABLES_MAX) {
        own[count] = input_line(&in);
        if (!*own[count++])
            break;
    }
    values = in.size ? &in : NULL;
    environ = own;
    struct nuioa_client *client = nuioa_client_open();
    environ = before;
    values = NULL;
    if (INPUT_HOLDS(client != NULL))
        ask(client);
    nuioa_client_close(client);
    free(device);
    while (count)
        free(own[--count]);
    return 0;
}
