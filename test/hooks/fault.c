/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const fault_names[FAULT_KINDS] = { "memory", "open", "read",   "write",
                                               "socket", "fork", "thread", "munge",
                                               "hwloc",  "bind", "pmix",   "slurm" };

static struct fault_plan plan;
static struct fault_counts *counts; /* NULL: calls are not counted */
static _Thread_local unsigned paused;

void fault_begin(const struct fault_plan *wanted, struct fault_counts *in)
{
    plan = *wanted;
    __atomic_store_n(&counts, in, __ATOMIC_RELEASE);
}

void fault_end(void)
{
    __atomic_store_n(&counts, NULL, __ATOMIC_RELEASE);
}

void fault_pause(void)
{
    paused++;
}

void fault_resume(void)
{
    paused--;
}

bool fault_counts_now(void)
{
    return !paused && __atomic_load_n(&counts, __ATOMIC_ACQUIRE);
}

bool fault_hits(enum fault_kind kind, int error)
{
    struct fault_counts *now = __atomic_load_n(&counts, __ATOMIC_ACQUIRE);
    if (paused || !now)
        return false;
    uint32_t number = __atomic_add_fetch(&now->calls[kind], 1, __ATOMIC_RELAXED);
    if (!plan.number || plan.kind != kind || number < plan.number ||
        (number > plan.number && !plan.all))
        return false;
    __atomic_add_fetch(&now->hits, 1, __ATOMIC_RELAXED);
    errno = error;
    return true;
}

/* --- the ledger ------------------------------------------------------------------------------- */

/* An open hash table without locks, because processes are forked while threads use it. What finds
 * no place among so many slots is not noted: a table that is nearly full would be slow. */
#define SLOTS (1u << 16)
#define SLOTS_TRIED 512

static struct {
    const void *memory, *at;
} slots[SLOTS];

static const char freed; /* its address marks a slot that was used */

static unsigned first_slot(const void *memory)
{
    return (unsigned)(((uintptr_t)memory >> 4) * 2654435761u) % SLOTS;
}

void ledger_add(const void *memory, const void *at)
{
    if (!memory || !fault_counts_now())
        return;
    for (unsigned i = first_slot(memory), tries = SLOTS_TRIED; tries--; i = (i + 1) % SLOTS) {
        const void *was = __atomic_load_n(&slots[i].memory, __ATOMIC_ACQUIRE);
        if (was && was != &freed)
            continue;
        if (__atomic_compare_exchange_n(&slots[i].memory, &was, memory, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            slots[i].at = at;
            return;
        }
    }
}

void ledger_remove(const void *memory)
{
    if (!memory)
        return;
    for (unsigned i = first_slot(memory), tries = SLOTS_TRIED; tries--; i = (i + 1) % SLOTS) {
        const void *was = __atomic_load_n(&slots[i].memory, __ATOMIC_ACQUIRE);
        if (!was)
            return;
        if (was == memory) {
            __atomic_store_n(&slots[i].memory, &freed, __ATOMIC_RELEASE);
            return;
        }
    }
}

void ledger_clear(void)
{
    memset(slots, 0, sizeof(slots));
}

void ledger_read(char *text, size_t size)
{
    unsigned left = 0;
    const void *at = NULL;
    Dl_info info;
    *text = '\0';
    for (unsigned i = 0; i < SLOTS; i++)
        if (slots[i].memory && slots[i].memory != &freed) {
            left++;
            at = slots[i].at;
        }
    if (left && dladdr(at, &info))
        snprintf(text, size, "%u allocations are left, the last from %s+0x%lx; ", left,
                 info.dli_fname, (unsigned long)((const char *)at - (const char *)info.dli_fbase));
}
