/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/window.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/memory.h"

#define AREA_BYTES (COLL_AREA_HEAD + COLL_SLOTS * COLL_SLOT_BYTES)
#define OFFER_MAX 8

/* All windows of this process, in a list. */
static struct {
    pthread_mutex_t lock;
    struct coll_window *newest;
    uint32_t made;
    bool closed; /* the windows are freed, so later calls of coll_window_give do nothing */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void discard(struct coll_window *window)
{
    if (window)
        free(window->world), free(window->areas);
    free(window);
}

static struct coll_window *room(MPI_Comm node)
{
    struct coll_window *window = calloc(1, sizeof(*window));
    if (!window)
        return NULL;
    window->win = MPI_WIN_NULL;
    PMPI_Comm_size(node, &window->count);
    PMPI_Comm_rank(node, &window->me);
    window->world = calloc((size_t)window->count, sizeof(*window->world));
    window->areas = calloc((size_t)window->count, sizeof(*window->areas));
    if (window->world && window->areas)
        return window;
    discard(window);
    return NULL;
}

static void list_members(struct coll_window *window, MPI_Comm node)
{
    MPI_Group group, world;
    PMPI_Comm_group(node, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    /* -Wanalyzer-null-dereference: all_good has ended it before. */
    for (int i = 0; i < window->count; i++)
        PMPI_Group_translate_ranks(group, 1, &i, world, &window->world[i]);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
}

/* --- using a window again -------------------------------------------------------------------- */

static bool is_like(const struct coll_window *a, const struct coll_window *b)
{
    return a->count == b->count &&
           !memcmp(a->world, b->world, (size_t)a->count * sizeof(*a->world));
}

/* Lists the unused windows with these members that the first rank of the node has, the newest
 * first. 0 stands for none. */
static void offer(const struct coll_window *wanted, uint64_t ids[OFFER_MAX])
{
    int count = 0;
    for (struct coll_window *w = pool.newest; w && count < OFFER_MAX; w = w->older)
        if (!w->used && is_like(w, wanted))
            ids[count++] = w->id;
}

static struct coll_window *find(uint64_t id)
{
    for (struct coll_window *w = pool.newest; w; w = w->older)
        if (w->id == id)
            return w;
    return NULL;
}

static unsigned accept(const uint64_t ids[OFFER_MAX])
{
    unsigned free_here = 0;
    for (unsigned i = 0; i < OFFER_MAX; i++) {
        struct coll_window *w = ids[i] ? find(ids[i]) : NULL;
        if (w && !w->used)
            free_here |= 1u << i;
    }
    return free_here;
}

/* Returns a window with these members that all of them have given back, or NULL. */
static struct coll_window *take_again(const struct coll_window *wanted, MPI_Comm node)
{
    uint64_t ids[OFFER_MAX] = { 0 };
    pthread_mutex_lock(&pool.lock);
    if (wanted->me == 0)
        offer(wanted, ids);
    pthread_mutex_unlock(&pool.lock);
    if (PMPI_Bcast(ids, sizeof(ids), MPI_BYTE, 0, node) != MPI_SUCCESS)
        return NULL;
    pthread_mutex_lock(&pool.lock);
    unsigned free_here = accept(ids);
    pthread_mutex_unlock(&pool.lock);
    if (PMPI_Allreduce(MPI_IN_PLACE, &free_here, 1, MPI_UNSIGNED, MPI_BAND, node) != MPI_SUCCESS ||
        !free_here)
        return NULL;
    pthread_mutex_lock(&pool.lock);
    struct coll_window *window = find(ids[__builtin_ctz(free_here)]);
    /* -Wanalyzer-null-dereference: all ranks have said that they have it. */
    window->used = true;
    pthread_mutex_unlock(&pool.lock);
    return window;
}

/* --- making one ------------------------------------------------------------------------------ */

static int allocate(struct coll_window *window, MPI_Comm node)
{
    MPI_Info info;
    void *own;
    PMPI_Info_create(&info);
    PMPI_Info_set(info, "alloc_shared_noncontig",
                  "true"); /* each rank's area is on its own NUMA node */
    int rc = PMPI_Win_allocate_shared(AREA_BYTES, 1, info, node, &own, &window->win);
    PMPI_Info_free(&info);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN);
    for (int i = 0; i < window->count && rc == MPI_SUCCESS; i++) {
        MPI_Aint size;
        int unit;
        rc = PMPI_Win_shared_query(window->win, i, &size, &unit, &window->areas[i]);
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Win_lock_all(MPI_MODE_NOCHECK, window->win);
    if (rc == MPI_SUCCESS)
        memset(window->areas[window->me], 0, COLL_AREA_HEAD);
    return rc;
}

/* Gives the window the same number on all members: that which the first member chooses. */
static int number(struct coll_window *window, MPI_Comm node)
{
    /* -Wanalyzer-null-dereference: all_good has ended it before. */
    if (window->me == 0) {
        pthread_mutex_lock(&pool.lock);
        window->id = ((uint64_t)window->world[0] << 32) + ++pool.made;
        pthread_mutex_unlock(&pool.lock);
    }
    return PMPI_Bcast(&window->id, 1, MPI_UINT64_T, 0, node);
}

static void keep(struct coll_window *window)
{
    pthread_mutex_lock(&pool.lock);
    window->used = true;
    window->older = pool.newest;
    pool.newest = window;
    pthread_mutex_unlock(&pool.lock);
}

/* Returns whether all ranks were successful. Afterwards the flags are zero everywhere. */
static bool all_good(bool good, MPI_Comm node)
{
    int all = good;
    return PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, node) == MPI_SUCCESS && all;
}

struct coll_window *coll_window_take(MPI_Comm node)
{
    struct coll_window *window = room(node);
    if (!all_good(window != NULL, node)) {
        discard(window);
        return NULL;
    }
    list_members(window, node);
    struct coll_window *again = take_again(window, node);
    if (again) {
        discard(window);
        return again;
    }
    bool good = number(window, node) == MPI_SUCCESS && allocate(window, node) == MPI_SUCCESS;
    if (!all_good(good, node)) {
        discard(window); /* not MPI_Win_free: it is collective, and some ranks may have no window */
        return NULL;
    }
    keep(window);
    return window;
}

void coll_window_give(struct coll_window *window)
{
    if (!window)
        return;
    pthread_mutex_lock(&pool.lock);
    if (!pool.closed)
        window->used = false;
    pthread_mutex_unlock(&pool.lock);
}

/* All ranks free windows in the order of their numbers, so that no two ranks wait for each
 * other. */
static struct coll_window *take_out_first(void)
{
    struct coll_window **first = &pool.newest;
    if (!*first)
        return NULL;
    for (struct coll_window **w = first; *w; w = &(*w)->older)
        if ((*w)->id < (*first)->id)
            first = w;
    struct coll_window *window = *first;
    *first = window->older;
    return window;
}

void coll_window_close(void)
{
    struct coll_window *window;
    pool.closed = true;
    while ((window = take_out_first())) {
        PMPI_Win_unlock_all(window->win);
        PMPI_Win_free(&window->win);
        discard(window);
    }
}

void coll_window_await_slot(const struct coll_window *window, uint64_t number)
{
    if (number < COLL_SLOTS)
        return;
    for (int i = 0; i < window->count; i++)
        if (i != window->me)
            coll_flag_wait(&coll_window_flags(window, i)->taken, number + 1 - COLL_SLOTS);
}
