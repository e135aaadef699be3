/* SPDX-License-Identifier: BSD-3-Clause */

/* Stands in for the runtime of a GPU: it has those functions of the real one that libnuioa-coll
 * calls, and gives out memory that nobody may touch. One of the macros CUDA, HIP (its major
 * version) and ZE says which runtime it is. The names that begin with stand_in are for
 * devices.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum kind { FOREIGN, DEVICE, MANAGED, PINNED };

void *stand_in_allocate(size_t bytes, enum kind kind);
void stand_in_open(bool open);
extern int stand_in_error, stand_in_last_error;

int stand_in_error;      /* what the next questions return; 0: the right answer */
int stand_in_last_error; /* HIP's last error */

static struct {
    char *first;
    size_t bytes;
    enum kind kind;
} areas[64];
static int area_count;

/* Returns NULL without memory. The memory is never freed. */
void *stand_in_allocate(size_t bytes, enum kind kind)
{
    int access = kind == PINNED ? PROT_READ | PROT_WRITE : PROT_NONE;
    void *first = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (first == MAP_FAILED || area_count == sizeof(areas) / sizeof(*areas))
        return NULL;
    areas[area_count].first = first;
    areas[area_count].bytes = bytes;
    areas[area_count++].kind = kind;
    return first;
}

/* While it is open, the memory can be touched. */
void stand_in_open(bool open)
{
    for (int i = 0; i < area_count; i++)
        if (areas[i].kind != PINNED)
            mprotect(areas[i].first, areas[i].bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static enum kind kind_of(const void *address)
{
    for (int i = 0; i < area_count; i++)
        if ((uintptr_t)address - (uintptr_t)areas[i].first < areas[i].bytes)
            return areas[i].kind;
    return FOREIGN;
}

#ifdef CUDA
int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer);

/* CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_VALUE; CU_POINTER_ATTRIBUTE_MEMORY_TYPE and
 * _IS_MANAGED; CU_MEMORYTYPE_HOST and _DEVICE. */
int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer)
{
    enum kind kind = kind_of((const void *)(uintptr_t)pointer);
    if (stand_in_error || !area_count)
        return stand_in_error ? stand_in_error : 3;
    if (kind == FOREIGN)
        return 1;
    if (attribute == 2)
        *(unsigned *)data = kind == DEVICE ? 2 : 1;
    else if (attribute == 8)
        *(bool *)data = kind == MANAGED;
    return attribute == 2 || attribute == 8 ? 0 : 1;
}
#endif

#ifdef HIP
struct attributes { /* hipPointerAttribute_t */
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

int hipPointerGetAttributes(struct attributes *attributes, const void *pointer);
int hipRuntimeGetVersion(int *version);
int hipPeekAtLastError(void);
int hipGetLastError(void);

/* hipErrorInvalidValue; hipMemoryTypeHost and Device, which differ between versions. */
int hipPointerGetAttributes(struct attributes *attributes, const void *pointer)
{
    enum kind kind = kind_of(pointer);
    int error = stand_in_error ? stand_in_error : kind == FOREIGN && HIP < 6;
    if (error)
        return stand_in_last_error = error;
    int host = HIP < 6 ? 0 : 1;
    *attributes = (struct attributes){ .type = kind == FOREIGN  ? 0
                                               : kind == DEVICE ? host + 1
                                                                : host };
    attributes->is_managed = kind == MANAGED;
    return 0;
}

int hipRuntimeGetVersion(int *version)
{
    *version = HIP * 10000000 + 30000;
    return 0;
}

int hipPeekAtLastError(void)
{
    return stand_in_last_error;
}

int hipGetLastError(void)
{
    int error = stand_in_last_error;
    stand_in_last_error = 0;
    return error;
}
#endif

#ifdef ZE
struct context_desc {
    int stype;
    const void *next;
    uint32_t flags;
};
struct allocation {
    int stype;
    void *next;
    int type;
    uint64_t id, page_size;
};

int zeDriverGet(uint32_t *count, void **drivers);
int zeContextCreate(void *driver, const struct context_desc *desc, void **context);
int zeMemGetAllocProperties(void *context, const void *pointer, struct allocation *allocation,
                            void **device);

static char the_driver, the_context;

/* ZE_RESULT_ERROR_UNINITIALIZED; ZE_RESULT_ERROR_INVALID_ARGUMENT. */
int zeDriverGet(uint32_t *count, void **drivers)
{
    if (!area_count)
        return 0x78000001;
    if (*count)
        *drivers = &the_driver;
    *count = 1;
    return 0;
}

int zeContextCreate(void *driver, const struct context_desc *desc, void **context)
{
    if (driver != &the_driver || desc->stype != 0xd)
        return 0x78000004;
    *context = &the_context;
    return 0;
}

/* ZE_MEMORY_TYPE_UNKNOWN, HOST, DEVICE, SHARED. */
int zeMemGetAllocProperties(void *context, const void *pointer, struct allocation *allocation,
                            void **device)
{
    static const int types[] = { [FOREIGN] = 0, [PINNED] = 1, [DEVICE] = 2, [MANAGED] = 3 };
    if (stand_in_error || context != &the_context || allocation->stype != 0x17)
        return stand_in_error ? stand_in_error : 0x78000004;
    allocation->type = types[kind_of(pointer)];
    *device = NULL;
    return 0;
}
#endif
