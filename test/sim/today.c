/* SPDX-License-Identifier: BSD-3-Clause */
#include "today.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.hpp"

enum { MAX_NODE = 256, CELLS_KEY = -2000 };

static int rank, size;

static void find_out(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* A part of a message: from `at` on, no further than its end. */
struct part {
    size_t at, bytes;
};

static struct part part_of(size_t all, size_t each, size_t k)
{
    size_t at = k * each < all ? k * each : all;
    return (struct part){ at, all - at < each ? all - at : each };
}

static size_t parts(size_t all, size_t each)
{
    return (all + each - 1) / each;
}

/* --- MPICH among the ranks of a list, the first of which has the data (MPIR_Bcast_impl) --------
 * */

static void send_part(char *buffer, struct part part, int to)
{
    if (part.bytes)
        MPI_Send(buffer + part.at, (int)part.bytes, MPI_BYTE, to, 11, MPI_COMM_WORLD);
}

static void receive_part(char *buffer, struct part part, int from)
{
    if (part.bytes)
        MPI_Recv(buffer + part.at, (int)part.bytes, MPI_BYTE, from, 11, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void exchange(char *buffer, struct part out, int to, struct part in, int from)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    if (in.bytes)
        MPI_Irecv(buffer + in.at, (int)in.bytes, MPI_BYTE, from, 12, MPI_COMM_WORLD, &requests[0]);
    if (out.bytes)
        MPI_Isend(buffer + out.at, (int)out.bytes, MPI_BYTE, to, 12, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* What rank `at` of a binomial tree is sent: what it and the mask - 1 ranks after it keep. */
static struct part kept(size_t bytes, size_t each, int mask, int at)
{
    return each == bytes ? (struct part){ 0, bytes }
                         : part_of(bytes, each * (size_t)mask, (size_t)(at / mask));
}

/* `each` is what one rank keeps: all in a broadcast, its block in a scatter. */
static void binomial(char *buffer, size_t bytes, size_t each, const int *list, int n, int at)
{
    int mask = 1;
    for (; mask < n && !(at & mask); mask <<= 1)
        ;
    if (mask < n)
        receive_part(buffer, kept(bytes, each, mask, at), list[at - mask]);
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (at + mask < n)
            send_part(buffer, kept(bytes, each, mask, at + mask), list[at + mask]);
}

static void ring(char *buffer, size_t bytes, size_t each, const int *list, int n, int at)
{
    for (int i = 0; i < n - 1; i++)
        exchange(buffer, part_of(bytes, each, (size_t)((at - i + n) % n)), list[(at + 1) % n],
                 part_of(bytes, each, (size_t)((at - i - 1 + 2 * n) % n)), list[(at - 1 + n) % n]);
}

static void doubling(char *buffer, size_t bytes, size_t each, const int *list, int n, int at)
{
    for (int mask = 1; mask < n; mask <<= 1) {
        size_t block = each * (size_t)mask;
        int other = at ^ mask;
        exchange(buffer, part_of(bytes, block, (size_t)(at / mask)), list[other],
                 part_of(bytes, block, (size_t)(other / mask)), list[other]);
    }
}

static int is_power(int n)
{
    return !(n & (n - 1));
}

static void among(char *buffer, size_t bytes, const int *list, int n, int at)
{
    size_t each = parts(bytes, (size_t)n);
    if (n < 8 || bytes <= 12288) {
        binomial(buffer, bytes, bytes, list, n, at);
        return;
    }
    binomial(buffer, bytes, each, list, n, at);
    if (is_power(n) && bytes <= 524288)
        doubling(buffer, bytes, each, list, n, at);
    else
        ring(buffer, bytes, each, list, n, at);
}

/* --- MPICH within a node: release_gather -------------------------------------------------------
 * */

/* Four cells of 8 KB in the memory of local rank 0, which fills them in turn; the others copy out.
 * It fills a cell again when all have copied what was in it. */
enum { CELL = 8192, CELLS = 4 };
struct cells {
    uint64_t filled, done[MAX_NODE];
};

static void release_gather(const struct published *p, char *buffer, size_t bytes, int from)
{
    static uint64_t turn; /* the same for all ranks of a node, as all make all calls */
    struct cells *cells = sim_common(CELLS_KEY - sim_node(), sizeof *cells);
    int here = rank % p->per_node, first = rank - here, bank = published_numa(first);
    for (size_t k = 0; k < parts(bytes, CELL); k++) {
        struct part part = part_of(bytes, CELL, k);
        turn++;
        if (from != 0 && here == from)
            send_part(buffer, part, first);
        else if (from != 0 && here == 0)
            receive_part(buffer, part, first + from);
        else if (here == 0)
            sim_copy_to(bank, part.bytes);
        if (here == 0)
            sim_post(&cells->filled, turn);
        else
            sim_wait(&cells->filled, turn);
        if (here != from)
            sim_copy_from(bank, part.bytes);
        if (here != 0)
            sim_post(&cells->done[here], turn);
        for (int i = 1; here == 0 && turn >= CELLS && i < p->per_node; i++)
            sim_wait(&cells->done[i], turn - (CELLS - 1));
    }
}

/* --- MPICH's compositions ----------------------------------------------------------------------
 * */

static const char *composition(size_t bytes)
{
    if (size < 8 || bytes < 12288)
        return "alpha";
    return is_power(size) && bytes < 524288 ? "beta" : "gamma";
}

static void between_leaders(const struct published *p, char *buffer, size_t bytes, int root)
{
    int nodes = size / p->per_node, first = root / p->per_node, list[MAX_NODE];
    if (rank % p->per_node != 0)
        return;
    for (int i = 0; i < nodes; i++)
        list[i] = (first + i) % nodes * p->per_node;
    among(buffer, bytes, list, nodes, (rank / p->per_node - first + nodes) % nodes);
}

void today_mpich(const struct published *p, const char *how, char *buffer, size_t bytes, int root)
{
    find_out();
    if (!strcmp(how, "auto"))
        how = composition(bytes);
    int local = root % p->per_node, leader = root - local;
    int home = rank / p->per_node == root / p->per_node;
    if (!strcmp(how, "gamma")) {
        int *list = malloc(sizeof *list * (size_t)size);
        for (int i = 0; i < size; i++)
            list[i] = (root + i) % size;
        among(buffer, bytes, list, size, (rank - root + size) % size);
        free(list);
    } else if (!strcmp(how, "beta")) {
        if (home && local > 0)
            release_gather(p, buffer, bytes, local);
        between_leaders(p, buffer, bytes, root);
        if (!home || local == 0)
            release_gather(p, buffer, bytes, 0);
    } else {
        if (local > 0 && rank == root)
            send_part(buffer, (struct part){ 0, bytes }, leader);
        if (local > 0 && rank == leader)
            receive_part(buffer, (struct part){ 0, bytes }, root);
        between_leaders(p, buffer, bytes, root);
        release_gather(p, buffer, bytes, 0);
    }
}

/* --- Open MPI -----------------------------------------------------------------------------------
 * */

/* Children in a k-nomial tree of n; returns their number. *parent is -1 for the first. */
static int knomial(int radix, int n, int at, int *parent, int *children)
{
    int mask = 1, count = 0;
    for (*parent = -1; mask < n; mask *= radix)
        if (at % (mask * radix)) {
            *parent = at - at % (mask * radix);
            break;
        }
    for (mask /= radix; mask > 0; mask /= radix)
        for (int i = 1; i < radix && at + i * mask < n; i++)
            children[count++] = at + i * mask;
    return count;
}

/* The tree of tuned for what HAN gives it, 64 KB to 512 KB: all by the first, binomial, or
 * 4-nomial. Lists of 64 and more ranks are not simulated. */
static int tuned(int n, int at, int *parent, int *children)
{
    return knomial(n < 16 ? MAX_NODE : n < 32 ? 2 : 4, n, at, parent, children);
}

/* An MPI_Ibcast of libnbc: rounds of messages, each of which begins when the one before is over.
 * Up to four nodes the root sends to all in one; else a chain of fragments, in which a rank sends
 * what it has while it receives the next. */
struct nbc {
    char *buffer;
    size_t bytes, fragment, round, rounds;
    const int *list;
    int n, at;
    MPI_Request requests[MAX_NODE];
};

static void nbc_post(struct nbc *b, size_t fragment, int to, MPI_Request *request, int receives)
{
    struct part part = part_of(b->bytes, b->fragment, fragment);
    if (receives)
        MPI_Irecv(b->buffer + part.at, (int)part.bytes, MPI_BYTE, to, 13, MPI_COMM_WORLD, request);
    else
        MPI_Isend(b->buffer + part.at, (int)part.bytes, MPI_BYTE, to, 13, MPI_COMM_WORLD, request);
}

static void nbc_round(struct nbc *b)
{
    int chained = b->n > 4;
    size_t count = parts(b->bytes, b->fragment), k = b->round++;
    if (b->at > 0 && k < count)
        nbc_post(b, k, b->list[chained ? b->at - 1 : 0], &b->requests[0], 1);
    if (!chained)
        for (int i = 1; b->at == 0 && i < b->n; i++)
            nbc_post(b, k, b->list[i], &b->requests[i], 0);
    else if (b->at == 0)
        nbc_post(b, k, b->list[1], &b->requests[1], 0);
    else if (b->at + 1 < b->n && k > 0)
        nbc_post(b, k - 1, b->list[b->at + 1], &b->requests[1], 0);
}

static void nbc_start(struct nbc *b, char *buffer, size_t bytes)
{
    int between = b->n > 4 && b->at > 0 && b->at + 1 < b->n;
    b->buffer = buffer;
    b->bytes = bytes;
    b->fragment = b->n <= 4 ? bytes : bytes < 524288 ? 8192 : 32768;
    b->round = 0;
    b->rounds = parts(bytes, b->fragment) + (size_t)between;
    nbc_round(b);
}

/* Waits for `count` requests, and keeps the broadcast between nodes going meanwhile, as
 * opal_progress does; then for that, if `wholly`. The requests are behind those of b. */
static void progress(struct nbc *b, MPI_Request *requests, int count, int wholly)
{
    MPI_Request all[2 * MAX_NODE];
    for (;;) {
        int done, open = 0, busy = 0;
        for (int i = 0; i < count; i++)
            open |= requests[i] != MPI_REQUEST_NULL;
        for (int i = 0; i < b->n; i++)
            busy |= b->requests[i] != MPI_REQUEST_NULL;
        if (!busy && b->round < b->rounds) {
            nbc_round(b);
            continue;
        }
        if (!open && (!wholly || !busy))
            return;
        for (int i = 0; i < b->n + count; i++)
            all[i] = i < b->n ? b->requests[i] : requests[i - b->n];
        MPI_Waitany(b->n + count, all, &done, MPI_STATUS_IGNORE);
        if (done < b->n)
            b->requests[done] = MPI_REQUEST_NULL;
        else
            requests[done - b->n] = MPI_REQUEST_NULL;
    }
}

/* A broadcast by tuned of one part; b, if any, goes on meanwhile. */
static void tuned_bcast(struct nbc *b, char *buffer, struct part part, const int *list, int n,
                        int at, int tag)
{
    static struct nbc none;
    int parent, children[MAX_NODE], count = tuned(n, at, &parent, children);
    MPI_Request requests[MAX_NODE];
    if (parent >= 0)
        MPI_Recv(buffer + part.at, (int)part.bytes, MPI_BYTE, list[parent], tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        MPI_Isend(buffer + part.at, (int)part.bytes, MPI_BYTE, list[children[i]], tag,
                  MPI_COMM_WORLD, &requests[i]);
    progress(b ? b : &none, requests, count, 0);
}

void today_han(const struct published *p, size_t segment, char *buffer, size_t bytes, int root)
{
    find_out();
    int nodes = size / p->per_node, first = root / p->per_node, local = root % p->per_node;
    int home = rank / p->per_node, here = rank % p->per_node, up[MAX_NODE], low[MAX_NODE];
    int at = (home - first + nodes) % nodes, leads = here == local;
    struct nbc between = { .list = up, .n = nodes, .at = at };
    for (int i = 0; i < MAX_NODE; i++)
        between.requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < nodes; i++)
        up[i] = (first + i) % nodes * p->per_node + local;
    for (int i = 0; i < p->per_node; i++)
        low[i] = home * p->per_node + (local + i) % p->per_node;
    if (leads && nodes > 1)
        tuned_bcast(NULL, buffer, part_of(bytes, segment, 0), up, nodes, at, 14);
    for (size_t k = 0; k < parts(bytes, segment); k++) {
        struct part next = part_of(bytes, segment, k + 1);
        if (leads && nodes > 1 && next.bytes)
            nbc_start(&between, buffer + next.at, next.bytes);
        tuned_bcast(leads ? &between : NULL, buffer, part_of(bytes, segment, k), low, p->per_node,
                    (here - local + p->per_node) % p->per_node, 15);
        if (leads)
            progress(&between, NULL, 0, 1);
    }
}
