/* SPDX-License-Identifier: BSD-3-Clause */
#include "published.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.hpp"

enum { MAX_NODE = 256, SLOTS = 2 };

static int me, size, *numa_of, near_local;

static int node_of(const struct published *p, int rank)
{
    return rank / p->per_node;
}

/* Local rank of the best leader: NUIOA_SIM_NEAR, the NUMA node of the NIC; the first rank there. */
void published_start(const struct published *p)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = sim_numa(), wanted = atoi(getenv("NUIOA_SIM_NEAR"));
    free(numa_of);
    numa_of = malloc(sizeof *numa_of * (size_t)size);
    PMPI_Allgather(&mine, 1, MPI_INT, numa_of, 1, MPI_INT, MPI_COMM_WORLD);
    near_local = 0;
    for (int i = p->per_node - 1; i >= 0; i--)
        if (numa_of[i] == wanted)
            near_local = i;
}

int published_numa(int rank)
{
    return numa_of[rank];
}

static int leader(const struct published *p, int node, int root)
{
    if (node == node_of(p, root))
        return root;
    return node * p->per_node + (p->near ? near_local : root % p->per_node);
}

static size_t piece(size_t bytes, size_t segment, size_t k)
{
    size_t from = k * segment;
    return bytes - from < segment ? bytes - from : segment;
}

static size_t pieces(size_t bytes, size_t segment)
{
    return (bytes + segment - 1) / segment;
}

/* --- between ranks of a list, the first of which has the data -------------------------------- */

static void linear(char *buffer, size_t bytes, const int *list, int n, int at, int blocking)
{
    if (at > 0) {
        MPI_Recv(buffer, (int)bytes, MPI_BYTE, list[0], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Request *requests = malloc(sizeof *requests * (size_t)n);
    for (int i = 1; i < n; i++)
        if (blocking)
            MPI_Send(buffer, (int)bytes, MPI_BYTE, list[i], 1, MPI_COMM_WORLD);
        else
            MPI_Isend(buffer, (int)bytes, MPI_BYTE, list[i], 1, MPI_COMM_WORLD, &requests[i - 1]);
    if (!blocking)
        MPI_Waitall(n - 1, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void binomial(char *buffer, size_t bytes, const int *list, int n, int at)
{
    int mask = 1;
    for (; mask < n; mask <<= 1)
        if (at & mask) {
            MPI_Recv(buffer, (int)bytes, MPI_BYTE, list[at - mask], 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            break;
        }
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (at + mask < n)
            MPI_Send(buffer, (int)bytes, MPI_BYTE, list[at + mask], 2, MPI_COMM_WORLD);
}

/* As Open MPI's generic pipeline: one receive ahead, one send at a time. */
static void chain(char *buffer, size_t bytes, size_t segment, const int *list, int n, int at)
{
    size_t count = pieces(bytes, segment);
    MPI_Request in[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL }, out = MPI_REQUEST_NULL;
    for (size_t k = 0; k < count + 1; k++) {
        if (at > 0 && k < count)
            MPI_Irecv(buffer + k * segment, (int)piece(bytes, segment, k), MPI_BYTE, list[at - 1],
                      3, MPI_COMM_WORLD, &in[k & 1]);
        if (k == 0)
            continue;
        MPI_Wait(&in[(k - 1) & 1], MPI_STATUS_IGNORE);
        if (at + 1 < n) {
            MPI_Wait(&out, MPI_STATUS_IGNORE);
            MPI_Isend(buffer + (k - 1) * segment, (int)piece(bytes, segment, k - 1), MPI_BYTE,
                      list[at + 1], 3, MPI_COMM_WORLD, &out);
        }
    }
    MPI_Wait(&out, MPI_STATUS_IGNORE);
}

static void among(const char *how, char *buffer, size_t bytes, size_t segment, const int *list,
                  int n, int at)
{
    if (n < 2)
        return;
    if (!strcmp(how, "linear") || !strcmp(how, "linearnb"))
        linear(buffer, bytes, list, n, at, !strcmp(how, "linear"));
    else if (!strcmp(how, "binomial"))
        binomial(buffer, bytes, list, n, at);
    else
        chain(buffer, bytes, segment, list, n, at);
}

/* --- inside a node ---------------------------------------------------------------------------- */

/* A segment in the first rank's memory: it copies in, the others copy out, two slots in turn. */
struct shared {
    uint64_t filled, done[MAX_NODE];
};

static void shared_memory(size_t bytes, size_t segment, const int *list, int n, int at)
{
    static long calls;
    struct shared *s = sim_common(sim_node() * 100000L + calls++, sizeof *s);
    size_t count = pieces(bytes, segment);
    for (size_t k = 0; k < count; k++) {
        uint64_t turn = k + 1;
        if (at > 0) {
            sim_wait(&s->filled, turn);
            sim_copy_from(numa_of[list[0]], piece(bytes, segment, k));
            sim_post(&s->done[at], turn);
            continue;
        }
        for (int i = 1; i < n && turn > SLOTS; i++)
            sim_wait(&s->done[i], turn - SLOTS);
        sim_copy_to(numa_of[list[0]], piece(bytes, segment, k));
        sim_post(&s->filled, turn);
    }
    for (int i = 1; i < n && at == 0; i++)
        sim_wait(&s->done[i], count);
}

static void inside(const struct published *p, char *buffer, size_t bytes, int first)
{
    int list[MAX_NODE], n = 1, at = 0, base = node_of(p, me) * p->per_node;
    list[0] = first;
    for (int i = base; i < base + p->per_node; i++)
        if (i != first) {
            if (i == me)
                at = n;
            list[n++] = i;
        }
    if (n < 2)
        return;
    if (!strcmp(p->intra, "sm"))
        shared_memory(bytes, p->segment, list, n, at);
    else
        among(p->intra, buffer, bytes, p->segment, list, n, at);
}

/* --- the collectives
 * ------------------------------------------------------------------------------ */

/* Whom the leader at a place in the list of leaders has its segments from. */
static int parent(const struct published *p, int at)
{
    if (!strcmp(p->inter, "chain"))
        return at - 1;
    return strcmp(p->inter, "binomial") ? 0 : at & (at - 1);
}

/* Segments go on to other leaders and to local ranks as soon as they come, two at a time. */
static void pipeline(const struct published *p, char *buffer, size_t bytes, int root)
{
    int nodes = size / p->per_node, home = node_of(p, me), mine = leader(p, home, root);
    int first = node_of(p, root), at = (home - first + nodes) % nodes;
    int to[2 * MAX_NODE], n = 0, from = mine;
    if (me == mine) {
        from = at == 0 ? -1 : leader(p, (first + parent(p, at)) % nodes, root);
        for (int i = nodes - 1; i > at; i--)
            if (parent(p, i) == at)
                to[n++] = leader(p, (first + i) % nodes, root);
        for (int i = home * p->per_node; i < (home + 1) * p->per_node; i++)
            if (i != me)
                to[n++] = i;
    }
    size_t count = pieces(bytes, p->segment), k;
    MPI_Request *in = malloc(sizeof *in * count),
                *out = malloc(sizeof *out * count * (size_t)(n + 1));
    for (k = 0; k < count && from >= 0; k++)
        MPI_Irecv(buffer + k * p->segment, (int)piece(bytes, p->segment, k), MPI_BYTE, from, 5,
                  MPI_COMM_WORLD, &in[k]);
    for (k = 0; k < count; k++) {
        if (from >= 0)
            MPI_Wait(&in[k], MPI_STATUS_IGNORE);
        if (k > 1)
            MPI_Waitall(n, out + (k - 2) * (size_t)n, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            MPI_Isend(buffer + k * p->segment, (int)piece(bytes, p->segment, k), MPI_BYTE, to[i], 5,
                      MPI_COMM_WORLD, &out[k * (size_t)n + (size_t)i]);
    }
    for (k = count > 2 ? count - 2 : 0; k < count; k++)
        MPI_Waitall(n, out + k * (size_t)n, MPI_STATUSES_IGNORE);
    free(in);
    free(out);
}

void published_bcast(const struct published *p, char *buffer, size_t bytes, int root)
{
    if (!strcmp(p->intra, "nbp")) {
        pipeline(p, buffer, bytes, root);
        return;
    }
    int nodes = size / p->per_node, home = node_of(p, me), first = node_of(p, root);
    int mine = leader(p, home, root);
    if (me == mine) {
        int *list = malloc(sizeof *list * (size_t)nodes);
        for (int i = 0; i < nodes; i++)
            list[i] = leader(p, (first + i) % nodes, root);
        among(p->inter, buffer, bytes, p->segment, list, nodes, (home - first + nodes) % nodes);
        free(list);
    }
    inside(p, buffer, bytes, mine);
}

void published_chain(const struct published *p, char *buffer, size_t bytes, int root)
{
    int *list = malloc(sizeof *list * (size_t)size), n = 0, at = 0;
    for (int node = 0; node < size / p->per_node; node++) {
        int home = (node_of(p, root) + node) % (size / p->per_node);
        int entry = home * p->per_node + (p->near ? near_local : 0);
        list[n++] = node == 0 ? root : entry;
        for (int i = home * p->per_node; i < (home + 1) * p->per_node; i++)
            if (i != (node == 0 ? root : entry))
                list[n++] = i;
    }
    for (int i = 0; i < n; i++)
        if (list[i] == me)
            at = i;
    chain(buffer, bytes, p->segment, list, n, at);
    free(list);
}

void published_gather(char *in, char *out, size_t bytes, int root)
{
    if (me != root) {
        MPI_Send(in, (int)bytes, MPI_BYTE, root, 6, MPI_COMM_WORLD);
        return;
    }
    MPI_Request *requests = malloc(sizeof *requests * (size_t)size);
    int n = 0;
    for (int i = 0; i < size; i++)
        if (i != me)
            MPI_Irecv(out + (size_t)i * bytes, (int)bytes, MPI_BYTE, i, 6, MPI_COMM_WORLD,
                      &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    free(requests);
}
