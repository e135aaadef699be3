#include <stdlib.h>

#include "trace.h"

/* Ranks in blocks that exist once one of them is met: 384 bytes for the first of 16, and 8 for each
 * 16 ranks of the job. */
#define BLOCK 16

struct block {
    struct trace_count counts[BLOCK];
};

static struct {
    int rank_count;
    bool threads; /* several threads may count at once */
    struct block **blocks[2];
} table;

int trace_table_open(int rank_count, bool threads)
{
    size_t blocks = ((size_t)rank_count + BLOCK - 1) / BLOCK;
    table.blocks[TRACE_TO] = calloc(blocks, sizeof(struct block *));
    table.blocks[TRACE_FROM] = calloc(blocks, sizeof(struct block *));
    if (!table.blocks[TRACE_TO] || !table.blocks[TRACE_FROM]) {
        trace_table_close();
        return -1;
    }
    table.threads = threads;
    table.rank_count = rank_count;
    return 0;
}

void trace_table_close(void)
{
    for (int d = 0; d < 2; d++) {
        for (int i = 0; table.blocks[d] && i * BLOCK < table.rank_count; i++)
            free(table.blocks[d][i]);
        free(table.blocks[d]);
        table.blocks[d] = NULL;
    }
    table.rank_count = 0;
}

/* Two threads may want the same new block: one of them wins. */
static struct block *new_block(struct block **place)
{
    struct block *fresh = calloc(1, sizeof(*fresh)), *there = NULL;
    if (fresh && !__atomic_compare_exchange_n(place, &there, fresh, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE)) {
        free(fresh);
        fresh = there;
    }
    return fresh;
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
    struct block **place = &table.blocks[direction][rank / BLOCK];
    struct block *block = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (!block && !(block = new_block(place)))
        return;
    struct trace_count *count = &block->counts[rank % BLOCK];
    add(&count->bytes, bytes * msgs);
    add(&count->msgs, msgs);
    if (bytes >= TRACE_LARGE)
        add(&count->large_bytes, bytes * msgs);
}

const struct trace_count *trace_counted(enum trace_direction direction, int rank)
{
    const struct block *block = table.blocks[direction][rank / BLOCK];
    const struct trace_count *count = block ? &block->counts[rank % BLOCK] : NULL;
    return count && count->msgs ? count : NULL;
}
