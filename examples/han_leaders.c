/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded, it makes the collectives of Open MPI's coll/han lead each node by the rank that
 * libnuioa-client names first. HAN leads with rank 0 of a communicator for each node, which it
 * makes with the key 0 on all ranks. Here the key is the rank's place in nuioa's order of the node.
 *
 * It is a proof for Open MPI, not for production: it relies on internal functions. HAN of Open MPI
 * 5.0.0 to 5.0.10 also gathers wrong data if the nodes are not in the same order for each place, so
 * a node keeps its leader if other nodes have ranks between its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <nuioa-client.h>
#include <stdint.h>

#if OMPI_MAJOR_VERSION < 5
#error "requires Open MPI 5: with other leaders, HAN of Open MPI 4.1 gathers wrong data"
#endif

/* Open MPI's own: how it splits by type, and how long a value of an info is, if it is there. */
typedef int split_function(MPI_Comm comm, int type, int key, void *info, MPI_Comm *made);
typedef int length_function(void *info, const char *key, int *length, int *is_there);
split_function ompi_comm_split_type;

/* HAN names components in the info of its communicators. Programs do not. */
static int is_by_han(void *info)
{
    length_function *find_length;
    int length, is_there = 0;
    *(void **)&find_length = dlsym(RTLD_NEXT, "opal_info_get_valuelen");
    if (info && find_length)
        find_length(info, "ompi_comm_coll_preference", &length, &is_there);
    return is_there;
}

/* Returns the place of this rank among those of `comm` on its node, 0 for the best leader; or 0
 * without advice, or if these ranks are not neighbours in `comm`. */
static int place(MPI_Comm comm)
{
    MPI_Group world, group;
    const uint32_t *order;
    int own, is_ready = 0, found = 0, members = 0, low = INT32_MAX, high = -1;
    PMPI_Initialized(&is_ready);
    if (!is_ready)
        return 0;
    struct nuioa_client *advice = nuioa_client_open();
    size_t count = nuioa_client_order(advice, &order);
    PMPI_Comm_rank(comm, &own);
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (size_t i = 0; i < count; i++) {
        int rank = (int)order[i];
        PMPI_Group_translate_ranks(world, 1, &rank, group, &rank);
        if (rank == MPI_UNDEFINED)
            continue;
        low = rank < low ? rank : low;
        high = rank > high ? rank : high;
        found = rank == own ? members : found;
        members++;
    }
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    nuioa_client_close(advice);
    return high - low < members ? found : 0;
}

int ompi_comm_split_type(MPI_Comm comm, int type, int key, void *info, MPI_Comm *made)
{
    split_function *split;
    *(void **)&split = dlsym(RTLD_NEXT, "ompi_comm_split_type");
    if (type == MPI_COMM_TYPE_SHARED && is_by_han(info))
        key = place(comm);
    return split ? split(comm, type, key, info, made) : MPI_ERR_OTHER;
}
