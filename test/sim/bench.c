/* SPDX-License-Identifier: BSD-3-Clause */

/* Times collectives in simulated time, as Intel's MPI benchmarks do: the root goes round the ranks
 * of the first node, and the slowest rank counts.
 *
 *   bench WHAT PER_NODE ROOTS BYTES...
 *
 * WHAT: bcast, gather: MPI's own; or
 * pub-bcast:INTER:INTRA:SEGMENT:near|default, pub-chain:-:-:SEGMENT:..., pub-gather (see
 * published.h); or mpich:alpha|beta|gamma|auto or han:SEGMENT (see today.h); or pingpong between
 * ranks 0 and the last. ROOTS: how many roots; -R: rank R alone.
 *
 * Prints "BYTES seconds" lines on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "published.h"
#include "today.h"

enum { WORD = 80 };

struct run {
    char what[WORD];
    char words[4][WORD];
    struct published published;
    int me, size;
    char *in, *out;
};

static void parse(struct run *r, const char *what, const char *per_node)
{
    char copy[5 * WORD];
    int n = 0;
    snprintf(copy, sizeof copy, "%s", what);
    snprintf(r->what, sizeof r->what, "%s", strtok(copy, ":"));
    for (char *word; n < 4 && (word = strtok(NULL, ":"));)
        snprintf(r->words[n++], WORD, "%s", word);
    r->published = (struct published){
        .per_node = atoi(per_node),
        .near = !strcmp(r->words[3], "near"),
        .inter = r->words[0],
        .intra = r->words[1],
        .segment = (size_t)atol(r->words[2]),
    };
}

static void pingpong(struct run *r, int bytes)
{
    int last = r->size - 1;
    if (r->me == 0) {
        MPI_Send(r->in, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD);
        MPI_Recv(r->in, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (r->me == last) {
        MPI_Recv(r->in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(r->in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void once(struct run *r, int bytes, int root)
{
    MPI_Comm w = MPI_COMM_WORLD;
    if (!strcmp(r->what, "bcast"))
        MPI_Bcast(r->in, bytes, MPI_BYTE, root, w);
    else if (!strcmp(r->what, "gather"))
        MPI_Gather(r->in, bytes, MPI_BYTE, r->out, bytes, MPI_BYTE, root, w);
    else if (!strcmp(r->what, "pingpong"))
        pingpong(r, bytes);
    else if (!strcmp(r->what, "pub-bcast"))
        published_bcast(&r->published, r->in, (size_t)bytes, root);
    else if (!strcmp(r->what, "pub-chain"))
        published_chain(&r->published, r->in, (size_t)bytes, root);
    else if (!strcmp(r->what, "pub-gather"))
        published_gather(r->in, r->out, (size_t)bytes, root);
    else if (!strcmp(r->what, "mpich"))
        today_mpich(&r->published, r->words[0], r->in, (size_t)bytes, root);
    else if (!strcmp(r->what, "han"))
        today_han(&r->published, (size_t)atol(r->words[0]), r->in, (size_t)bytes, root);
    else
        MPI_Abort(w, 2);
}

static double measure(struct run *r, int bytes, int roots)
{
    double sum = 0;
    int first = roots < 0 ? -roots : 0, count = roots > 0 ? roots : 1;
    int warm = strncmp(r->what, "pub-", 4) ? 1 : 0;
    for (int root = first - warm; root < first + count; root++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime(), longest, took;
        once(r, bytes, root < first ? first : root);
        took = MPI_Wtime() - start;
        PMPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (root >= first) /* the first call warms up */
            sum += longest;
    }
    return sum / count / (strcmp(r->what, "pingpong") ? 1 : 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    static struct run r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r.me);
    MPI_Comm_size(MPI_COMM_WORLD, &r.size);
    parse(&r, argv[1], argv[2]);
    published_start(&r.published);
    for (int i = 4; i < argc; i++) {
        int bytes = atoi(argv[i]);
        size_t all = (size_t)bytes * (size_t)r.size;
        int whole = strstr(r.what, "gather") != NULL;
        r.in = SMPI_SHARED_MALLOC((size_t)bytes);
        r.out = SMPI_SHARED_MALLOC(whole ? all : (size_t)bytes);
        double seconds = measure(&r, bytes, atoi(argv[3]));
        if (r.me == 0)
            printf("%d %.9f\n", bytes, seconds);
        SMPI_SHARED_FREE(r.in);
        SMPI_SHARED_FREE(r.out);
    }
    MPI_Finalize();
    return 0;
}
