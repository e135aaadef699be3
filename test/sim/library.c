/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "memory.hpp"
#include "mpi/coll/memory.h"
#include "pmix/client/nuioa-client.h"

enum { MAX_NODE = 256, MAX_NIC = 8, MAX_WINDOW = 8, NODE_KEY = -1000 };

/* The facts that a node's ranks share: the NUMA node of each local rank. */
struct node {
    int count;
    int numa[MAX_NODE];
};

static struct node *node;
static int first_rank;

void library_start(int per_node)
{
    int me;
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    node = sim_common(NODE_KEY - sim_node(), sizeof *node);
    node->count = per_node;
    node->numa[me % per_node] = sim_numa();
    first_rank = me - me % per_node;
    PMPI_Barrier(MPI_COMM_WORLD);
}

/* SMPI takes each host for a node, and here each core is a host. */
int sim_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
    (void)type, (void)info;
    return PMPI_Comm_split(comm, sim_node(), key, made);
}

/* SMPI gives all ranks the first one's part of a shared window. All ranks are one process, so each
 * allocates its own part and tells the others. Never freed. */
static struct {
    MPI_Win win;
    MPI_Aint size;
    void *parts[MAX_NODE];
} windows[MAX_WINDOW];
static int window_count;

int sim_window_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                        MPI_Win *win)
{
#undef PMPI_Win_allocate_shared
    int rc = PMPI_Win_allocate_shared(size, unit, info, comm, base, win);
    void *mine = calloc(1, (size_t)size);
    if (rc != MPI_SUCCESS || !mine || window_count == MAX_WINDOW)
        return MPI_ERR_OTHER;
    windows[window_count].win = *win;
    windows[window_count].size = size;
    *(void **)base = mine;
    return PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, windows[window_count++].parts, sizeof mine,
                          MPI_BYTE, comm);
}

int sim_window_query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base)
{
    for (int i = 0; i < window_count; i++)
        if (windows[i].win == win) {
            *size = windows[i].size;
            *unit = 1;
            *(void **)base = windows[i].parts[rank];
            return MPI_SUCCESS;
        }
    return MPI_ERR_WIN;
}

/* --- mpi/coll/memory.h ----------------------------------------------------------------------- */

void coll_copy(void *to, const void *from, size_t bytes, int owner, enum coll_direction direction)
{
    (void)to, (void)from;
    if (direction == COLL_IN)
        sim_copy_to(node->numa[owner], bytes);
    else
        sim_copy_from(node->numa[owner], bytes);
}

void coll_flag_post(uint64_t *flag, uint64_t value)
{
    sim_post(flag, value);
}

void coll_flag_wait(const uint64_t *flag, uint64_t value)
{
    sim_wait(flag, value);
}

int coll_numa(uint8_t *distance, size_t count)
{
    int here = sim_numa();
    for (int numa = 0; numa < (int)count; numa++)
        distance[numa] = numa < sim_numa_count() ? (uint8_t)(10 + 5 * sim_hops(here, numa)) : 0;
    return here;
}

int coll_cpus(int32_t *lowest)
{
    *lowest = 0;
    return 0; /* each rank has its core */
}

/* --- libnuioa-client
 * ----------------------------------------------------------------------------- */

struct nuioa_client {
    uint32_t order[MAX_NODE], rail[MAX_NIC];
    size_t rails;
};

static int is_near(void)
{
    const char *leaders = getenv("NUIOA_SIM_LEADERS");
    return !leaders || !strcmp(leaders, "near");
}

/* By level, then by local rank. */
struct nuioa_client *nuioa_client_open(void)
{
    struct nuioa_client *client = calloc(1, sizeof *client);
    size_t n = 0;
    if (!client || !node || !is_near())
        return client;
    for (int level = 0; (int)n < node->count; level++)
        for (int i = 0; i < node->count; i++)
            if (sim_level(node->numa[i]) == level)
                client->order[n++] = (uint32_t)(first_rank + i);
    for (int nic = 0; nic < sim_nic_count(); nic++)
        for (int i = 0; i < node->count; i++) {
            uint32_t rank = client->order[i];
            if (sim_nic(node->numa[rank - (uint32_t)first_rank]) == nic) {
                client->rail[client->rails++] = rank;
                break;
            }
        }
    return client;
}

void nuioa_client_close(struct nuioa_client *client)
{
    free(client);
}

void nuioa_client_vote(const struct nuioa_client *client, enum nuioa_client_subject subject,
                       uint64_t vote[2])
{
    (void)client, (void)subject;
    vote[0] = is_near();
    vote[1] = ~vote[0];
}

int nuioa_client_agreed(const uint64_t vote[2])
{
    return vote[0] == 1;
}

size_t nuioa_client_order(const struct nuioa_client *client, const uint32_t **ranks)
{
    *ranks = client->order;
    return (size_t)node->count;
}

int nuioa_client_leader(const struct nuioa_client *client, uint32_t *rank)
{
    *rank = client->order[0];
    return 0;
}

int nuioa_client_level(const struct nuioa_client *client)
{
    (void)client;
    return sim_level(sim_numa());
}

size_t nuioa_client_rail_leaders(const struct nuioa_client *client, const uint32_t **ranks)
{
    *ranks = client->rail;
    return client->rails;
}
