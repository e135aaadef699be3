/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/gpus.h"

/* The declarations are those of the runtimes' own headers, cuda.h, hip_runtime_api.h and ze_api.h,
 * which need not be installed where this library is built. A pointer to a function that the
 * runtime lacks is NULL. */

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof(found));
}

/* CUresult and hipError_t have the same values here. They mean that the runtime does not know the
 * address, or that it has given out no memory yet. */
static bool is_not_mine(int error)
{
    enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100 };
    return error == INVALID_VALUE || error == NOT_INITIALIZED || error == NO_DEVICE;
}

/* --- CUDA Driver API, chapter "Unified Addressing" -------------------------------------------- */

static int (*cuda_attribute)(void *data, int attribute, unsigned long long address);
static int (*cuda_count)(int *count);

static void cuda_open(void *library)
{
    find(library, "cuPointerGetAttribute", &cuda_attribute);
    find(library, "cuDeviceGetCount", &cuda_count);
}

/* A program that has loaded CUDA will initialise it. */
static bool cuda_has_devices(void)
{
    enum { NO_DEVICE = 100 };
    int count = 0, error = cuda_count ? cuda_count(&count) : -1;
    return error ? error != NO_DEVICE : count > 0;
}

static bool cuda_holds(const void *address)
{
    enum { MEMORY_TYPE = 2, IS_MANAGED = 8, MEMORYTYPE_HOST = 1 };
    unsigned long long pointer = (uintptr_t)address;
    unsigned type = 0, managed = 0; /* IS_MANAGED writes a boolean, which may have one byte */
    int error = cuda_attribute ? cuda_attribute(&type, MEMORY_TYPE, pointer) : -1;
    if (error)
        return !is_not_mine(error);
    return type != MEMORYTYPE_HOST || cuda_attribute(&managed, IS_MANAGED, pointer) || managed;
}

/* --- HIP Runtime API, chapters "Memory Management" and "Error Handling" ----------------------- */

/* hipPointerAttribute_t; the same in all versions. */
struct hip_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
    uint64_t reserved[4];
};
static int (*hip_attributes)(struct hip_attributes *attributes, const void *address);
static int (*hip_version)(int *version);
static int (*hip_peek)(void), (*hip_last)(void);
static int (*hip_count)(int *count);

static void hip_open(void *library)
{
    find(library, "hipPointerGetAttributes", &hip_attributes);
    find(library, "hipRuntimeGetVersion", &hip_version);
    find(library, "hipPeekAtLastError", &hip_peek);
    find(library, "hipGetLastError", &hip_last);
    find(library, "hipGetDeviceCount", &hip_count);
}

static bool hip_has_devices(void)
{
    enum { NO_DEVICE = 100 };
    int count = 0, before = hip_peek ? hip_peek() : 0;
    int error = hip_count ? hip_count(&count) : -1;
    if (error && !before && hip_last)
        hip_last();
    return error ? error != NO_DEVICE : count > 0;
}

/* HIP keeps the error of this question for the program's next hipGetLastError, so it is taken away
 * again, unless the program has an error of its own there. */
static int hip_ask(struct hip_attributes *attributes, const void *address)
{
    if (!hip_attributes || !hip_version || !hip_peek || !hip_last)
        return -1;
    int before = hip_peek();
    int error = hip_attributes(attributes, address);
    if (error && !before)
        hip_last();
    return error;
}

/* hipMemoryType: until HIP 5 the host is 0, from HIP 6 on memory that HIP does not know is 0 and
 * the host 1. */
static bool hip_holds(const void *address)
{
    struct hip_attributes attributes = { 0 };
    int version = 0, error = hip_ask(&attributes, address);
    if (error)
        return !is_not_mine(error);
    if (hip_version(&version) || attributes.is_managed)
        return true;
    return attributes.type > (version / 10000000 < 6 ? 0 : 1);
}

/* --- Level Zero, chapters "Drivers and Devices" and "Memory" ---------------------------------- */

#define DRIVERS 8

struct ze_context_desc {
    int stype;
    const void *next;
    uint32_t flags;
};
struct ze_allocation {
    int stype;
    void *next;
    int type;
    uint64_t id, page_size;
};
static int (*ze_drivers)(uint32_t *count, void **drivers);
static int (*ze_context)(void *driver, const struct ze_context_desc *desc, void **context);
static int (*ze_properties)(void *context, const void *address, struct ze_allocation *allocation,
                            void **device);
static void *ze_contexts[DRIVERS]; /* one of each driver; they are never destroyed */
static uint32_t ze_count;

static void ze_open(void *library)
{
    find(library, "zeDriverGet", &ze_drivers);
    find(library, "zeContextCreate", &ze_context);
    find(library, "zeMemGetAllocProperties", &ze_properties);
}

/* Makes the contexts when the program has initialised Level Zero. Returns 0 also before. */
static int ze_begin(void)
{
    enum { UNINITIALIZED = 0x78000001, CONTEXT_DESC = 0xd };
    void *drivers[DRIVERS];
    uint32_t count = DRIVERS;
    if (ze_count)
        return 0;
    if (!ze_drivers || !ze_context || !ze_properties)
        return -1;
    int error = ze_drivers(&count, drivers);
    if (error)
        return error == UNINITIALIZED ? 0 : error;
    for (uint32_t i = 0; i < count && !error; i++)
        error = ze_context(drivers[i], &(struct ze_context_desc){ .stype = CONTEXT_DESC },
                           &ze_contexts[i]);
    if (!error)
        ze_count = count;
    return error;
}

/* Other libraries load Level Zero, too: hwloc does, to look for GPUs. Without a GPU, or before the
 * program initialises it, there is no driver. */
static bool ze_has_devices(void)
{
    enum { UNINITIALIZED = 0x78000001 };
    uint32_t count = 0;
    int error = ze_drivers ? ze_drivers(&count, NULL) : -1;
    return error ? error != UNINITIALIZED : count > 0;
}

/* The program's own context is not known. Drivers answer for the memory of all contexts, and MPICH
 * and Open MPI rely on it in the same way. */
static bool ze_holds(const void *address)
{
    enum { ALLOCATION = 0x17, TYPE_UNKNOWN = 0, TYPE_HOST = 1 };
    if (ze_begin())
        return true;
    for (uint32_t i = 0; i < ze_count; i++) {
        struct ze_allocation allocation = { .stype = ALLOCATION };
        void *device = NULL;
        if (ze_properties(ze_contexts[i], address, &allocation, &device) ||
            (allocation.type != TYPE_UNKNOWN && allocation.type != TYPE_HOST))
            return true;
    }
    return false;
}

/* --- which of them are loaded ---------------------------------------------------------------- */

static struct runtime {
    const char *file; /* the name of its file, without a version */
    void (*open)(void *library);
    bool (*holds)(const void *address);
    bool (*has_devices)(void); /* true also if that is not known */
    void *library;             /* NULL: the program has not loaded it; else it stays loaded */
} runtimes[] = {
    { "libcuda.so", cuda_open, cuda_holds, cuda_has_devices, NULL },
    { "libamdhip64.so", hip_open, hip_holds, hip_has_devices, NULL },
    { "libze_loader.so", ze_open, ze_holds, ze_has_devices, NULL },
};
#define RUNTIMES (sizeof(runtimes) / sizeof(*runtimes))

static bool any_loaded;

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

struct search {
    const char *file;
    char path[PATH_MAX];
};

static int match(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    const char *name = strrchr(info->dlpi_name, '/');
    (void)size;
    if (!name || strncmp(name + 1, search->file, strlen(search->file)))
        return 0;
    snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
    return 1;
}

static void look_for(struct runtime *runtime)
{
    struct search search = { .file = runtime->file };
    if (runtime->library || !dl_iterate_phdr(match, &search))
        return;
    runtime->library = dlopen(search.path, RTLD_NOW | RTLD_NOLOAD);
    if (!runtime->library)
        return;
    runtime->open(runtime->library);
    any_loaded = true;
}

void coll_device_look(void)
{
    static unsigned long long seen;
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    if (loads == seen)
        return;
    seen = loads;
    for (size_t i = 0; i < RUNTIMES; i++)
        look_for(&runtimes[i]);
}

bool coll_device_is_likely(void)
{
    for (size_t i = 0; any_loaded && i < RUNTIMES; i++)
        if (runtimes[i].library && runtimes[i].has_devices())
            return true;
    return nuioa_gpus_given(environ) > NUIOA_GPUS_NONE;
}

bool coll_device_holds(const void *address)
{
    for (size_t i = 0; any_loaded && i < RUNTIMES; i++)
        if (runtimes[i].library && runtimes[i].holds(address))
            return true;
    return false;
}
