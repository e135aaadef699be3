/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/table.h"

#include <stdlib.h>

/* A rank communicates with few of many ranks, so counters are allocated only where they are needed.
 * The counters are a radix tree (D. Knuth, "The Art of Computer Programming", volume 3, section
 * 6.3, 1973): blocks of counters below as many levels of branches as the number of ranks needs. The
 * first counter among a million ranks costs 5 branches and a block, 832 bytes. */
#define BLOCK_BITS 3
#define BRANCH_BITS 4
#define BLOCK (1u << BLOCK_BITS) /* ranks of a block */
#define BRANCH (1u << BRANCH_BITS)

struct block {
    struct trace_count counts[BLOCK];
};

struct branch {
    void *below[BRANCH]; /* branches; on the lowest level blocks */
};

static struct {
    unsigned rank_count;
    unsigned levels; /* number of levels of branches */
    bool threads;    /* several threads may count at once */
    void *roots[TRACE_DIRECTIONS];
} table;

void trace_table_open(int rank_count, bool threads)
{
    table.rank_count = (unsigned)rank_count;
    table.threads = threads;
    table.levels = 0;
    while (BLOCK_BITS + BRANCH_BITS * table.levels < 32 &&
           (table.rank_count - 1) >> (BLOCK_BITS + BRANCH_BITS * table.levels))
        table.levels++;
}

static void close_below(void *there, unsigned levels)
{
    struct branch *branch = there;
    for (unsigned i = 0; branch && levels && i < BRANCH; i++)
        close_below(branch->below[i], levels - 1);
    free(there);
}

void trace_table_close(void)
{
    for (int d = 0; d < TRACE_DIRECTIONS; d++) {
        close_below(table.roots[d], table.levels);
        table.roots[d] = NULL;
    }
    table.rank_count = 0;
}

static bool lost;

void trace_lose(void)
{
    __atomic_store_n(&lost, true, __ATOMIC_RELAXED);
}

bool trace_lost(void)
{
    return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

/* Allocates a part of the tree. If two threads do this at once, both use that of the first. */
static void *make(void **place, size_t size)
{
    void *fresh = calloc(1, size), *there = NULL;
    if (!fresh)
        trace_lose();
    else if (!__atomic_compare_exchange_n(place, &there, fresh, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE)) {
        free(fresh);
        fresh = there;
    }
    return fresh;
}

static inline void *have(void **place, size_t size, bool create)
{
    void *there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    return there || !create ? there : make(place, size);
}

/* Returns the counter of a rank; or NULL if there is none, or no memory for one. */
static inline struct trace_count *counter(enum trace_direction direction, unsigned rank,
                                          bool create)
{
    void **place = &table.roots[direction];
    for (unsigned shift = BLOCK_BITS + BRANCH_BITS * table.levels; shift > BLOCK_BITS;) {
        struct branch *branch = have(place, sizeof(*branch), create);
        if (!branch)
            return NULL;
        shift -= BRANCH_BITS;
        place = &branch->below[rank >> shift & (BRANCH - 1)];
    }
    struct block *block = have(place, sizeof(*block), create);
    return block ? &block->counts[rank & (BLOCK - 1)] : NULL;
}

/* An atomic addition takes longer than everything else here together, so it is used only if there
 * are several threads. */
static inline void add(uint64_t *sum, uint64_t value)
{
    if (table.threads)
        __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
    else
        *sum += value;
}

static _Thread_local struct trace_notes *noting;

void trace_note(struct trace_notes *notes)
{
    noting = notes;
}

static void note(struct trace_notes *notes, const struct trace_note *new)
{
    if (notes->count == notes->room) {
        uint32_t room = notes->room ? 2 * notes->room : 1;
        struct trace_note *list = realloc(notes->list, room * sizeof(*list));
        if (!list) {
            trace_lose();
            return;
        }
        notes->list = list;
        notes->room = room;
    }
    notes->list[notes->count++] = *new;
}

void trace_count_notes(const struct trace_notes *notes)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct trace_note *note = &notes->list[i];
        trace_add(note->direction, note->rank, note->bytes, note->msgs);
    }
}

void trace_forget_notes(struct trace_notes *notes)
{
    free(notes->list);
    *notes = (struct trace_notes){ 0 };
}

void trace_add(enum trace_direction direction, int rank, uint64_t bytes, uint64_t msgs)
{
    if (__builtin_expect(noting != NULL, 0)) {
        note(noting, &(struct trace_note){ direction, rank, bytes, msgs });
        return;
    }
    if ((unsigned)rank >= table.rank_count) /* true for negative ranks too */
        return;
    struct trace_count *count = counter(direction, (unsigned)rank, true);
    if (!count)
        return;
    add(&count->bytes, bytes * msgs);
    add(&count->msgs, msgs);
    if (bytes >= TRACE_LARGE)
        add(&count->large_bytes, bytes * msgs);
}

const struct trace_count *trace_counted(enum trace_direction direction, int rank)
{
    const struct trace_count *count = counter(direction, (unsigned)rank, false);
    return count && count->msgs ? count : NULL;
}
