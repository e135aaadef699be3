/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/next.h"

#include <dlfcn.h>

/* libnuioa-preload.so sets this: tools come behind that file, while behind this library, which it
 * has opened, there is the MPI library only. NULL: this library was preloaded by itself, or
 * linked. */
void *(*nuioa_trace_find)(const char *name);

_Thread_local const char *trace_outermost;

void *trace_find(const char *name)
{
    return nuioa_trace_find ? nuioa_trace_find(name) : dlsym(RTLD_NEXT, name);
}
