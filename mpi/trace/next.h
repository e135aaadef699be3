/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_NEXT_H
#define NUIOA_MPI_TRACE_NEXT_H

#include <stdbool.h>
#include <stddef.h>

/* An entry point calls the function that the program would have called without the recorder: that
 * of a tool which the program links (Darshan, mpiP, Score-P), or else the MPI library's. The PMPI
 * name would hide the call from the tool. What the recorder itself asks of MPI it asks by PMPI
 * names, so that no tool counts it. */

/* Looks up the next function of this name in the order in which libraries are searched. */
void *trace_find(const char *name);

/* The next function `name`, which is looked up at the first call and kept in *known, NULL at first.
 * Any thread may call it. */
static inline void *trace_next(void **known, const char *name)
{
    void *call = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!call) {
        call = trace_find(name);
        __atomic_store_n(known, call, __ATOMIC_RELAXED);
    }
    return call;
}

/* The next function of the name of an entry point. */
#define NEXT(name) \
    (__extension__({ \
        static void *known; \
        (__typeof__(&name))trace_next(&known, #name); \
    }))

/* A tool may make its MPI_X from calls of MPI_Y, which come here too, and are no messages of the
 * program. Only the outermost call of a thread counts. Its frame is kept and not a depth, because a
 * call can be left by longjmp or an exception: then the next call from as near the stack's begin,
 * which grows down, is outermost again. */
extern _Thread_local const char *trace_outermost;

/* Begins a call of the next function, from an entry point with this __builtin_frame_address(0).
 * Returns true if it is the outermost one. */
static inline bool trace_enter(const char *frame)
{
    if (trace_outermost && frame < trace_outermost)
        return false;
    trace_outermost = frame;
    return true;
}

/* Ends the call: `outermost` is what trace_enter() returned. */
static inline void trace_leave(bool outermost)
{
    if (outermost)
        trace_outermost = NULL;
}

#endif
