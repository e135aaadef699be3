/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/enter.h"

#include <limits.h>
#include <stdio.h>

#include "mpi/coll/device.h"
#include "mpi/coll/job.h"
#include "mpi/coll/type.h"

/* Chooses the algorithm. Returns false: pass the call on. With "force", a message that no row
 * matches gets the first algorithm that there is. */
static bool choose_now(const struct coll_comm *c, enum coll_collective collective, uint64_t bytes,
                       struct coll_algorithm *algorithm)
{
    const struct coll_algorithm *found = coll_table_choose(c->table, collective, bytes);
    if (coll_job.is_chosen[collective]) {
        *algorithm = coll_job.chosen[collective];
        return !algorithm->pass;
    }
    if (!found && coll_job.force) {
        char name[COLL_WORD_MAX];
        sscanf(coll_algorithm_names(collective), "%47s", name);
        return !coll_algorithm_parse(collective, name, algorithm);
    }
    if (found)
        *algorithm = *found;
    return found && !found->pass;
}

/* Returns whether the offsets of all blocks fit into an int. */
static bool fits(const struct coll_comm *c, enum coll_collective collective, uint64_t bytes)
{
    bool whole =
        collective == COLL_BCAST || collective == COLL_REDUCE || collective == COLL_ALLREDUCE;
    return bytes && bytes <= INT_MAX / (whole ? 1 : (uint64_t)c->map.size);
}

/* Returns whether the CPU must not touch this buffer, or may not. The elements of a datatype with
 * absolute addresses (MPI_BOTTOM) can be in memory of several kinds, so they are not looked at. */
static bool is_device(const struct coll_buffer *buffer)
{
    MPI_Aint low = 0, extent;
    if (buffer->first == MPI_IN_PLACE || !coll_bytes(buffer->count, buffer->type))
        return false;
    if (buffer->first == MPI_BOTTOM ||
        PMPI_Type_get_true_extent(buffer->type, &low, &extent) != MPI_SUCCESS)
        return true;
    return coll_device_holds((const char *)buffer->first + low);
}

/* Asks all ranks whether the CPU may touch their buffers. The answer is the same on all of them. */
static bool all_are_host(struct coll_comm *c, const struct coll_buffer buffers[2])
{
    int device = is_device(&buffers[0]) || is_device(&buffers[1]);
    if (PMPI_Allreduce(MPI_IN_PLACE, &device, 1, MPI_INT, MPI_MAX, c->own) != MPI_SUCCESS)
        device = 1;
    c->device_calls = device ? c->device_calls + 1 : 0;
    if (c->device_calls >= COLL_DEVICE_CALLS)
        coll_comm_pass(c);
    return !device;
}

bool coll_enter(struct coll_comm *c, enum coll_collective collective, uint64_t bytes,
                const struct coll_buffer buffers[2], struct coll_algorithm *algorithm)
{
    bool led = coll_comm_ready(c) && fits(c, collective, bytes) &&
               choose_now(c, collective, bytes, algorithm);
    if (led)
        coll_device_look();
    if (led && c->asks)
        led = all_are_host(c, buffers);
    if (coll_job.stats)
        coll_job_count(collective, led);
    return led;
}

bool coll_enter_told(struct coll_comm *c, enum coll_collective collective, int root,
                     uint64_t total_bytes, const struct coll_buffer buffers[2],
                     struct coll_algorithm *algorithm)
{
    uint64_t size = (uint64_t)c->size;
    if (PMPI_Bcast(&total_bytes, 1, MPI_UINT64_T, root, c->comm) != MPI_SUCCESS)
        total_bytes = 0;
    return total_bytes &&
           coll_enter(c, collective, (total_bytes + size - 1) / size, buffers, algorithm);
}

void coll_begin(void)
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    coll_job_begin();
    coll_comm_open();
}

void coll_end(void)
{
    coll_job_end();
    coll_comm_close();
    coll_window_close();
}
