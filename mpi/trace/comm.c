/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/comm.h"

#include <stdint.h>
#include <stdlib.h>

#include "mpi/trace/table.h"

/* The ranks of a communicator or a window are kept as its attribute. MPI libraries take a lock to
 * find an attribute, so each thread keeps the last one; it is valid until `deleted` grows. */
static int comm_key = MPI_KEYVAL_INVALID, window_key = MPI_KEYVAL_INVALID;
static unsigned deleted = 1;
struct last {
    uint64_t handle; /* an int or a pointer */
    unsigned when;
    const struct trace_ranks *ranks;
};
static _Thread_local struct last last_comm, last_window;

/* The ranks that this thread is about to keep. Threads that use a communicator for the first time
 * at once each find its ranks. Those of the last one replace the others', which are still in use.
 * No lock is held over calls of MPI: the library may hold one of its own while it calls functions
 * of the program, which may call us. */
static _Thread_local struct trace_ranks *kept;

static int forget_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    struct trace_ranks *ranks = value;
    (void)comm, (void)key, (void)extra;
    if (kept) {
        kept->replaced = ranks;
        return MPI_SUCCESS;
    }
    __atomic_fetch_add(&deleted, 1, __ATOMIC_ACQ_REL);
    while (ranks) {
        struct trace_ranks *next = ranks->replaced;
        free(ranks);
        ranks = next;
    }
    return MPI_SUCCESS;
}

static int forget_window(MPI_Win window, int key, void *value, void *extra)
{
    (void)window;
    return forget_comm(MPI_COMM_NULL, key, value, extra);
}

int trace_comm_open(void)
{
    int rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &comm_key, NULL);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget_window, &window_key, NULL);
    return rc == MPI_SUCCESS ? 0 : -1;
}

/* Returns the ranks of the group in MPI_COMM_WORLD, or NULL. Frees the group. The caller frees the
 * result. */
static struct trace_ranks *translate(MPI_Group group)
{
    MPI_Group world;
    int size = 0;
    PMPI_Group_size(group, &size);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    struct trace_ranks *ranks = malloc(sizeof(*ranks) + (size_t)size * sizeof(int));
    int *theirs = malloc(((size_t)size + 1) * sizeof(int));
    if (ranks && theirs) {
        for (int i = 0; i < size; i++)
            theirs[i] = i;
        *ranks = (struct trace_ranks){ .size = size, .me = MPI_UNDEFINED };
        PMPI_Group_translate_ranks(group, size, theirs, world, ranks->world);
    } else {
        trace_lose();
        free(ranks);
        ranks = NULL;
    }
    free(theirs);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return ranks;
}

static struct trace_ranks *look_at(MPI_Comm comm)
{
    MPI_Group group;
    int inter = 0, rank;
    PMPI_Comm_test_inter(comm, &inter);
    if ((inter ? PMPI_Comm_remote_group : PMPI_Comm_group)(comm, &group) != MPI_SUCCESS)
        return NULL;
    struct trace_ranks *ranks = translate(group);
    PMPI_Comm_rank(comm, &rank);
    if (ranks) {
        ranks->me = rank;
        ranks->inter = inter;
    }
    return ranks;
}

static struct trace_ranks *look_at_window(MPI_Win window)
{
    MPI_Group group;
    return PMPI_Win_get_group(window, &group) == MPI_SUCCESS ? translate(group) : NULL;
}

/* Returns the ranks, which now belong to the communicator or the window, or NULL. */
static struct trace_ranks *keep(struct trace_ranks *ranks, MPI_Comm comm, MPI_Win window)
{
    if (!ranks)
        return NULL;
    kept = ranks;
    int rc = window == MPI_WIN_NULL ? PMPI_Comm_set_attr(comm, comm_key, ranks)
                                    : PMPI_Win_set_attr(window, window_key, ranks);
    kept = NULL;
    if (rc == MPI_SUCCESS)
        return ranks;
    free(ranks);
    return NULL;
}

/* Returns the ranks of `window`, or of `comm` if that is MPI_WIN_NULL. */
static const struct trace_ranks *look_up(struct last *last, uint64_t handle, MPI_Comm comm,
                                         MPI_Win window)
{
    unsigned when = __atomic_load_n(&deleted, __ATOMIC_ACQUIRE);
    if (last->when == when && last->handle == handle)
        return last->ranks;
    bool is_comm = window == MPI_WIN_NULL;
    struct trace_ranks *ranks = NULL;
    int found = 0;
    int rc = is_comm ? PMPI_Comm_get_attr(comm, comm_key, &ranks, &found)
                     : PMPI_Win_get_attr(window, window_key, &ranks, &found);
    if (rc != MPI_SUCCESS)
        return NULL;
    if (!found)
        ranks = keep(is_comm ? look_at(comm) : look_at_window(window), comm, window);
    if (ranks)
        *last = (struct last){ handle, when, ranks };
    return ranks;
}

const struct trace_ranks *trace_comm(MPI_Comm comm)
{
    return look_up(&last_comm, (uint64_t)comm, comm, MPI_WIN_NULL);
}

const struct trace_ranks *trace_window(MPI_Win window)
{
    return look_up(&last_window, (uint64_t)window, MPI_COMM_NULL, window);
}

int trace_world_rank(const struct trace_ranks *ranks, int rank)
{
    return ranks && rank >= 0 && rank < ranks->size ? ranks->world[rank] : MPI_UNDEFINED;
}
