/* SPDX-License-Identifier: BSD-3-Clause */
// Prints, each as "RANK NAME=LIST" with ranks of MPI_COMM_WORLD: the groups that Open MPI makes of
// the ranks that share something (numa, socket, l3), and the order in which libnuioa-client lets
// ranks be elected (elected): the best of all, the best of a communicator of the others, and so on.
// Each rank's list ends with itself. source and leader are libnuioa-client's own.
//
//   mpi-groups [RANKS]       RANKS: how many there are, and there is no MPI to ask

#include <mpi.h>
#include <nuioa-client.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi-ext.h> // after mpi.h

#define MAX_RANKS 64

// The virtual machine's processors take turns of 100 ms: a rank that polls would use up its turn,
// and so calls this (mpi_yield_when_idle), which must give the turn away.
int sched_yield(void)
{
    struct timespec pause = { .tv_nsec = 50000 };

    return nanosleep(&pause, NULL);
}

static void print_ranks(FILE *out, uint32_t self, const char *name, const uint32_t *ranks,
                        int count)
{
    fprintf(out, "%u %s=", self, name);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%u", i ? "," : "", ranks[i]);
    fputc('\n', out);
}

static int members(MPI_Comm comm, uint32_t self, uint32_t *ranks)
{
    int count;

    MPI_Comm_size(comm, &count);
    MPI_Allgather(&self, 1, MPI_UINT32_T, ranks, 1, MPI_UINT32_T, comm);
    return count;
}

static void print_group(FILE *out, uint32_t self, const char *name, int type)
{
    uint32_t ranks[MAX_RANKS];
    MPI_Comm group;

    MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, MPI_INFO_NULL, &group);
    int count = members(group, self, ranks);
    print_ranks(out, self, name, ranks, count);
    MPI_Comm_free(&group);
}

// Each election is in a communicator of its own: all ranks hold the same answer, or it hangs.
static int elect_together(const struct nuioa_client *advice, uint32_t self, uint32_t *elected)
{
    uint32_t ranks[MAX_RANKS];
    MPI_Comm comm = MPI_COMM_WORLD, rest;
    int rounds = 0, best;

    do {
        int count = members(comm, self, ranks);
        best = nuioa_client_best(advice, ranks, (size_t)count);
        if (best < 0)
            break;
        elected[rounds++] = ranks[best];
        MPI_Comm_split(comm, ranks[best] == self ? MPI_UNDEFINED : 0, 0, &rest);
        if (comm != MPI_COMM_WORLD)
            MPI_Comm_free(&comm);
        comm = rest;
    } while (comm != MPI_COMM_NULL);
    return rounds;
}

static int elect_alone(const struct nuioa_client *advice, uint32_t self, uint32_t *elected,
                       uint32_t count)
{
    uint32_t ranks[MAX_RANKS];
    int rounds = 0, best;

    for (uint32_t i = 0; i < count; i++)
        ranks[i] = i;
    while ((best = nuioa_client_best(advice, ranks, count)) >= 0) {
        elected[rounds++] = ranks[best];
        if (ranks[best] == self)
            break;
        ranks[best] = ranks[--count];
    }
    return rounds;
}

static void print_advice(FILE *out, uint32_t self, uint32_t alone)
{
    struct nuioa_client *advice = nuioa_client_open();
    uint32_t elected[MAX_RANKS], leader;
    int count =
        alone ? elect_alone(advice, self, elected, alone) : elect_together(advice, self, elected);

    print_ranks(out, self, "elected", elected, count);
    fprintf(out, "%u source=%d\n", self, nuioa_client_source(advice));
    if (!nuioa_client_leader(advice, &leader))
        fprintf(out, "%u leader=%u\n", self, leader);
    nuioa_client_close(advice);
}

int main(int argc, char **argv)
{
    uint32_t alone = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    const char *task = getenv("SLURM_PROCID");
    uint32_t self = task ? (uint32_t)atoi(task) : 0;
    char *text = NULL;
    size_t size;
    int rank, ranks;
    FILE *out = open_memstream(&text, &size);

    if (!out || alone > MAX_RANKS)
        return 2;
    if (!alone) {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (ranks > MAX_RANKS)
            MPI_Abort(MPI_COMM_WORLD, 2);
        self = (uint32_t)rank;
        print_group(out, self, "numa", OMPI_COMM_TYPE_NUMA);
        print_group(out, self, "socket", OMPI_COMM_TYPE_SOCKET);
        print_group(out, self, "l3", OMPI_COMM_TYPE_L3CACHE);
    }
    print_advice(out, self, alone);
    fclose(out);
    fputs(text, stdout); // at once, so that ranks' lines do not mix
    fflush(stdout);
    free(text);
    if (!alone)
        MPI_Finalize();
    return 0;
}
