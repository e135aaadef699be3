#include <stdlib.h>

#include "trace.h"

/* A rank talks to few others of many, so counters exist only around those it has met: a table of
 * groups, a group of blocks, a block of counters. One lonely neighbour costs 192 + 256 bytes. */
#define BLOCK 8  /* ranks */
#define GROUP 32 /* blocks */

struct block {
    struct trace_count counts[BLOCK];
};

struct group {
    void *blocks[GROUP];
};

static struct {
    int rank_count;
    bool threads;    /* several threads may count at once */
    void *groups[2]; /* void *[], by direction */
} table;

static size_t group_count(void)
{
    return ((size_t)table.rank_count + BLOCK * GROUP - 1) / (BLOCK * GROUP);
}

int trace_table_open(int rank_count, bool threads)
{
    table.rank_count = rank_count;
    table.threads = threads;
    return 0;
}

static void close_group(struct group *group)
{
    for (int i = 0; group && i < GROUP; i++)
        free(group->blocks[i]);
    free(group);
}

void trace_table_close(void)
{
    for (int d = 0; d < 2; d++) {
        void **groups = table.groups[d];
        for (size_t i = 0; groups && i < group_count(); i++)
            close_group(groups[i]);
        free(groups);
        table.groups[d] = NULL;
    }
    table.rank_count = 0;
}

/* Two threads may want the same new part: one of them wins. */
static void *make(void **place, size_t size)
{
    void *fresh = calloc(1, size), *there = NULL;
    if (fresh && !__atomic_compare_exchange_n(place, &there, fresh, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE)) {
        free(fresh);
        fresh = there;
    }
    return fresh;
}

static inline void *have(void **place, size_t size)
{
    void *there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    return there ? there : make(place, size);
}

/* A locked addition costs more than all the rest together: only where threads need it. */
static inline void add(uint64_t *sum, uint64_t value)
{
    if (table.threads)
        __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
    else
        *sum += value;
}

void trace_add(enum trace_direction direction, int rank, uint64_t bytes, uint64_t msgs)
{
    if (rank < 0 || rank >= table.rank_count)
        return;
    unsigned r = (unsigned)rank;
    void **groups = have(&table.groups[direction], group_count() * sizeof(void *));
    struct group *group = groups ? have(&groups[r / (BLOCK * GROUP)], sizeof(*group)) : NULL;
    struct block *block = group ? have(&group->blocks[r / BLOCK % GROUP], sizeof(*block)) : NULL;
    if (!block)
        return;
    struct trace_count *count = &block->counts[r % BLOCK];
    add(&count->bytes, bytes * msgs);
    add(&count->msgs, msgs);
    if (bytes >= TRACE_LARGE)
        add(&count->large_bytes, bytes * msgs);
}

const struct trace_count *trace_counted(enum trace_direction direction, int rank)
{
    void *const *groups = table.groups[direction];
    const struct group *group = groups ? groups[rank / (BLOCK * GROUP)] : NULL;
    const struct block *block = group ? group->blocks[rank / BLOCK % GROUP] : NULL;
    const struct trace_count *count = block ? &block->counts[rank % BLOCK] : NULL;
    return count && count->msgs ? count : NULL;
}
