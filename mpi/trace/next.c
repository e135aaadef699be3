/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/next.h"

#include <dlfcn.h>
#include <stddef.h>

/* libnuioa-preload.so sets this: tools come behind that file, while behind this library, which it
 * has opened, there is the MPI library only. NULL: this library was preloaded by itself, or
 * linked. */
void *(*nuioa_trace_find)(const char *name);

void *trace_next(void **known, const char *name)
{
    void *call = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!call) {
        call = nuioa_trace_find ? nuioa_trace_find(name) : dlsym(RTLD_NEXT, name);
        __atomic_store_n(known, call, __ATOMIC_RELAXED);
    }
    return call;
}

/* The stack grows down. */
static _Thread_local const char *outermost_frame;

bool trace_enter(const char *frame)
{
    if (outermost_frame && frame < outermost_frame)
        return false;
    outermost_frame = frame;
    return true;
}

void trace_leave(bool outermost)
{
    if (outermost)
        outermost_frame = NULL;
}
