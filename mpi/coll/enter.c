/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/enter.h"

#include <limits.h>
#include <stdio.h>

#include "mpi/coll/job.h"

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

bool coll_enter(struct coll_comm *c, enum coll_collective collective, uint64_t bytes,
                struct coll_algorithm *algorithm)
{
    bool led = coll_comm_ready(c) && fits(c, collective, bytes) &&
               choose_now(c, collective, bytes, algorithm);
    if (coll_job.stats)
        coll_job_count(collective, led);
    return led;
}

bool coll_enter_told(struct coll_comm *c, enum coll_collective collective, int root,
                     uint64_t total_bytes, struct coll_algorithm *algorithm)
{
    uint64_t size = (uint64_t)c->size;
    if (PMPI_Bcast(&total_bytes, 1, MPI_UINT64_T, root, c->comm) != MPI_SUCCESS)
        total_bytes = 0;
    return total_bytes && coll_enter(c, collective, (total_bytes + size - 1) / size, algorithm);
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
