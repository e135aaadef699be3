/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/enter.h"

#include <stdio.h>

#include "mpi/coll/device.h"
#include "mpi/coll/job.h"
#include "mpi/coll/type.h"

/* Chooses the algorithm. Returns false: pass the call on. With "force", a message that the table
 * does not lead gets the first algorithm that there is. */
static bool choose_now(const struct coll_comm *c, uint64_t bytes, struct coll_algorithm *algorithm)
{
    const struct coll_algorithm *found = coll_table_choose(c->table, bytes);
    if (coll_job.is_chosen) {
        *algorithm = coll_job.chosen;
        return !algorithm->pass;
    }
    if ((!found || found->pass) && coll_job.force) {
        char name[COLL_WORD_MAX];
        sscanf(coll_algorithm_names(), "%47s", name);
        return !coll_algorithm_parse(name, algorithm);
    }
    if (!found || found->pass)
        return false;
    *algorithm = *found;
    return true;
}

/* Returns whether the CPU must not touch this buffer, or may not. The elements of a datatype with
 * absolute addresses (MPI_BOTTOM) can be in memory of several kinds, so they are not looked at. */
static bool is_device(const void *buffer, MPI_Datatype type)
{
    MPI_Aint low = 0, extent;
    if (buffer == MPI_BOTTOM || PMPI_Type_get_true_extent(type, &low, &extent) != MPI_SUCCESS)
        return true;
    return coll_device_holds((const char *)buffer + low);
}

/* Asks all ranks whether the CPU may touch their buffers. The answer is the same on all of them. */
static bool all_are_host(struct coll_comm *c, const void *buffer, MPI_Datatype type)
{
    int device = is_device(buffer, type);
    if (PMPI_Allreduce(MPI_IN_PLACE, &device, 1, MPI_INT, MPI_MAX, c->own) != MPI_SUCCESS)
        device = 1;
    c->device_calls = device ? c->device_calls + 1 : 0;
    if (c->device_calls >= COLL_DEVICE_CALLS)
        coll_comm_pass(c);
    return !device;
}

bool coll_enter(struct coll_comm *c, const void *buffer, int count, MPI_Datatype type,
                struct coll_algorithm *algorithm)
{
    uint64_t bytes = coll_bytes(count, type);
    bool ready = coll_comm_ready(c), led = ready && bytes && choose_now(c, bytes, algorithm);
    if (led)
        coll_device_look();
    if (led && c->asks)
        led = all_are_host(c, buffer, type);
    if (ready)
        coll_job_note(led ? COLL_LED : c->asks ? COLL_DEVICE : COLL_NO_ROW);
    if (coll_job.stats)
        coll_job_count(led);
    return led;
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
