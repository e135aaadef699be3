/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hierarchical broadcast that enters each node through the rank beside its NIC (Goglin, Moreaud:
 * Dodging Non-Uniform I/O Access in Hierarchical Collective Operations for Multicore Clusters,
 * CASS 2011). libnuioa-client names that rank, the leader. Without advice the lowest rank of the
 * node leads.
 *
 *     bcast [BYTES]
 *
 * broadcasts BYTES (1 MiB) from each rank in turn and compares every byte. It prints who leads each
 * node, and at the end how many bytes were wrong; the exit status is 1 if there are any.
 */
#include <mpi.h>
#include <nuioa-client.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256 * 1024, TAG = 0, CHILDREN_MAX = 32 };

/* A communicator and its nodes, which are numbered by the order of their leaders. */
struct hierarchy {
    MPI_Comm comm;
    MPI_Comm node;  /* the ranks of this process's node, in the order of `comm` */
    int leader;     /* of this node, its rank in `node` */
    int nodes;      /* how many nodes there are */
    int *leader_of; /* for each node: its leader's rank in `comm` */
    int *node_of;   /* for each rank of `comm`: its node */
};

static void *allocate(int count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* Returns the leader's rank in `node`, the same on all its ranks: if one of them has no advice, or
 * other advice, none follows it. */
static int elect(MPI_Comm node, const struct nuioa_client *advice)
{
    int world, size, best = -1;
    uint64_t vote[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(node, &size);
    uint32_t own = (uint32_t)world, *ranks = allocate(size, sizeof(*ranks));
    MPI_Allgather(&own, 1, MPI_UINT32_T, ranks, 1, MPI_UINT32_T, node);
    nuioa_client_vote(advice, NUIOA_CLIENT_NODE, vote);
    MPI_Allreduce(MPI_IN_PLACE, vote, 2, MPI_UINT64_T, MPI_MAX, node);
    if (nuioa_client_agreed(vote))
        best = nuioa_client_best(advice, ranks, (size_t)size);
    free(ranks);
    return best < 0 ? 0 : best;
}

/* A node knows its own leader only. The leaders meet in a communicator of their own, whose ranks
 * are the numbers of the nodes. All ranks of `comm` call this. */
static void hierarchy_make(struct hierarchy *h, MPI_Comm comm, const struct nuioa_client *advice)
{
    MPI_Comm leaders;
    int rank, size, on_node, number = 0;
    MPI_Comm_dup(comm, &h->comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &h->node);
    MPI_Comm_rank(h->node, &on_node);
    h->leader = elect(h->node, advice);

    MPI_Comm_split(comm, on_node == h->leader ? 0 : MPI_UNDEFINED, rank, &leaders);
    if (leaders != MPI_COMM_NULL) {
        MPI_Comm_rank(leaders, &number);
        MPI_Comm_size(leaders, &h->nodes);
    }
    MPI_Bcast(&number, 1, MPI_INT, h->leader, h->node);
    MPI_Bcast(&h->nodes, 1, MPI_INT, h->leader, h->node);
    h->leader_of = allocate(h->nodes, sizeof(int));
    h->node_of = allocate(size, sizeof(int));
    if (leaders != MPI_COMM_NULL) {
        MPI_Allgather(&rank, 1, MPI_INT, h->leader_of, 1, MPI_INT, leaders);
        MPI_Comm_free(&leaders);
    }
    MPI_Bcast(h->leader_of, h->nodes, MPI_INT, h->leader, h->node);
    MPI_Allgather(&number, 1, MPI_INT, h->node_of, 1, MPI_INT, comm);
}

static void hierarchy_free(struct hierarchy *h)
{
    free(h->leader_of);
    free(h->node_of);
    MPI_Comm_free(&h->node);
    MPI_Comm_free(&h->comm);
}

/* The nodes form a binomial tree below the root's. Sets the ranks from which this process, which
 * speaks for node `own`, receives (-1: it is the root) and to which it sends. Returns the number of
 * the latter. */
static int neighbours(const struct hierarchy *h, int own, int root, int *parent, int *children)
{
    int first = h->node_of[root], count = 0, bit = 1;
    int place = (own - first + h->nodes) % h->nodes;
    while (bit < h->nodes && !(place & bit))
        bit *= 2;
    *parent = -1;
    if (place)
        *parent = place == bit ? root : h->leader_of[(place - bit + first) % h->nodes];
    while ((bit /= 2) > 0)
        if (place + bit < h->nodes)
            children[count++] = h->leader_of[(place + bit + first) % h->nodes];
    return count;
}

/* As MPI_Bcast, of bytes. The root itself sends to leaders of other nodes, wherever it is: what
 * counts is that those who receive are near their NIC. Chunks travel on within a node while the
 * next one arrives. */
static void broadcast(const struct hierarchy *h, char *buffer, int bytes, int root)
{
    int rank, parent = -1, children[CHILDREN_MAX], count = 0, source = h->leader;
    MPI_Request sent[CHILDREN_MAX];
    MPI_Comm_rank(h->comm, &rank);
    int own = h->node_of[rank], is_root_near = own == h->node_of[root];
    if (is_root_near) {
        source = 0; /* the root's rank in `node` */
        for (int i = 0; i < root; i++)
            source += h->node_of[i] == own;
    }
    int speaks = is_root_near ? rank == root : rank == h->leader_of[own];
    if (speaks)
        count = neighbours(h, own, root, &parent, children);
    for (int at = 0, length; at < bytes; at += length) {
        length = bytes - at < CHUNK ? bytes - at : CHUNK;
        if (parent >= 0)
            MPI_Recv(buffer + at, length, MPI_BYTE, parent, TAG, h->comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++)
            MPI_Isend(buffer + at, length, MPI_BYTE, children[i], TAG, h->comm, &sent[i]);
        MPI_Bcast(buffer + at, length, MPI_BYTE, source, h->node);
        for (int i = 0; i < count; i++)
            MPI_Wait(&sent[i], MPI_STATUS_IGNORE);
    }
}

static char expected(unsigned at, unsigned root) /* all may overflow */
{
    return (char)(at * 7 + at / 251 + root * 13);
}

/* Returns how many bytes this process got wrong. Before, each byte differs from what is sent. */
static long long try(const struct hierarchy *h, char *buffer, int bytes, int root)
{
    int rank;
    long long wrong = 0;
    MPI_Comm_rank(h->comm, &rank);
    for (int i = 0; i < bytes; i++)
        buffer[i] = rank == root ? expected(i, root) : (char)~expected(i, root);
    broadcast(h, buffer, bytes, root);
    for (int i = 0; i < bytes; i++)
        wrong += buffer[i] != expected(i, root);
    return wrong;
}

static void print_leader(const struct hierarchy *h, const struct nuioa_client *advice)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length, rank, size, level = nuioa_client_level(advice);
    const char *nic = nuioa_client_nic(advice);
    MPI_Comm_rank(h->comm, &rank);
    MPI_Comm_size(h->node, &size);
    MPI_Get_processor_name(name, &length);
    if (rank != h->leader_of[h->node_of[rank]])
        return;
    if (nic && level >= 0)
        printf("%s: rank %d leads %d, NIC %s, level %d\n", name, rank, size, nic, level);
    else
        printf("%s: rank %d leads %d, NIC unknown\n", name, rank, size);
}

int main(int argc, char **argv)
{
    struct hierarchy h;
    int rank, size, bytes = argc > 1 ? atoi(argv[1]) : 1024 * 1024;
    long long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct nuioa_client *advice = nuioa_client_open();
    hierarchy_make(&h, MPI_COMM_WORLD, advice);
    print_leader(&h, advice);
    char *buffer = allocate(bytes, 1);
    for (int root = 0; root < size; root++)
        wrong += try(&h, buffer, bytes, root);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d roots, %d bytes each, %lld wrong bytes\n", size, bytes, wrong);
    free(buffer);
    hierarchy_free(&h);
    nuioa_client_close(advice);
    MPI_Finalize();
    return wrong != 0;
}
