/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_NEXT_H
#define NUIOA_MPI_TRACE_NEXT_H

#include <stdbool.h>

/* An entry point calls the function that the program would have called without the recorder: that
 * of a tool which the program links (Darshan, mpiP, Score-P), or else the MPI library's. The PMPI
 * name would hide the call from the tool. What the recorder itself asks of MPI it asks by PMPI
 * names, so that no tool counts it. */

/* The function MPI_##name, looked up at its first call. */
#define NEXT(name) \
    (__extension__({ \
        static void *known; \
        (__typeof__(&MPI_##name))trace_next(&known, "MPI_" #name); \
    }))

/* Returns the next function of this name in the order in which libraries are searched, and keeps it
 * in *known, which is NULL at first. Any thread may call it. */
void *trace_next(void **known, const char *name);

/* A tool may make its MPI_X from calls of MPI_Y, which come here too, and are no messages of the
 * program. Only the outermost call of a thread counts. */

/* Begins a call of the next function, from an entry point with this __builtin_frame_address(0).
 * Returns true if it is the outermost one. An older call that was left by longjmp or by an
 * exception, without trace_leave(), is not taken for an outer one by a call from its caller. */
bool trace_enter(const char *frame);

/* Ends the call: `outermost` is what trace_enter() returned. */
void trace_leave(bool outermost);

#endif
