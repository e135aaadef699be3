/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_FAULT_H
#define TEST_HOOKS_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes calls of the plugin fail. The linker replaces the functions that the files "wrapped_*"
 * name; wrap_memory.c, wrap_system.c and wrap_hwloc.c define the replacements, which ask
 * fault_hits(). */

enum fault_kind {
    FAULT_MEMORY,  /* malloc and what calls it, bitmaps, mappings */
    FAULT_OPEN,    /* open, fopen, pipe, dup2 */
    FAULT_READ,    /* read, stat, random numbers */
    FAULT_WRITE,   /* write, mkdir */
    FAULT_SOCKET,  /* sockets, poll */
    FAULT_PROCESS, /* fork, change of user, limits */
    FAULT_THREAD,
    FAULT_MUNGE,
    FAULT_HWLOC,
    FAULT_BIND, /* CPU masks and memory policies */
    FAULT_PMIX,
    FAULT_SLURM, /* functions of SPANK */
    FAULT_KINDS
};

extern const char *const fault_names[FAULT_KINDS];

/* Which calls fail: the call with this number, from 1, of this kind; with `all` those after it
 * too. 0: none. */
struct fault_plan {
    enum fault_kind kind;
    uint32_t number;
    bool all;
};

/* Counted for one program, by all its processes, in shared memory. */
struct fault_counts {
    uint32_t calls[FAULT_KINDS];
    uint32_t hits; /* calls that failed because of the plan */
};

/* From now on the calls of this process and of those that it forks are counted in *counts, and fail
 * by the plan. */
void fault_begin(const struct fault_plan *plan, struct fault_counts *counts);
void fault_end(void);

/* Between these two, calls of this thread are the test's own: they are not counted and succeed. */
void fault_pause(void);
void fault_resume(void);

/* Returns true with errno set if this call must fail. */
bool fault_hits(enum fault_kind kind, int error);

/* --- memory that the plugin has and has not given back --- */

/* Notes what `at`, an address in the code, has allocated or freed. NULL is fine. Between
 * fault_begin() and fault_end() the replacements of malloc() and the like call them. */
void ledger_add(const void *memory, const void *at);
void ledger_remove(const void *memory);

/* Forgets all that was noted. */
void ledger_clear(void);

/* Writes which memory is left as a line of text; "": none. */
void ledger_read(char *text, size_t size);

/* True while calls are counted. */
bool fault_counts_now(void);

#endif
