/* SPDX-License-Identifier: BSD-3-Clause */

/* The main program of nuioa-bench-openmpi and nuioa-bench-mpich. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/bench/show.h"
#include "mpi/bench/table.h"

static const char help[] =
    "Usage: srun ... nuioa-bench-openmpi [OPTION]...      (or nuioa-bench-mpich)\n"
    "Measures collectives with and without libnuioa-coll, in turns, in one run.\n"
    "\n"
    "  -c, --collectives LIST  bcast,reduce,allreduce,allgather,allgatherv,gather,gatherv,\n"
    "                          scatter,scatterv,alltoall; default: all\n"
    "  -s, --sizes MIN:MAX     bytes, with k, M or G; default 1:8M\n"
    "      --step N            each size is N times the one before; default 2\n"
    "  -r, --root N|rotate     default: rotate, one further with each call\n"
    "  -v, --verify            check the result of every size\n"
    "  -n, --calls N           calls in a round; default: as many as take --round-ms\n"
    "      --rounds N          default 9\n"
    "      --round-ms N        default 20\n"
    "      --warmup N          calls that do not count; default 3\n"
    "  -m, --memory BYTES      leave out sizes for which a rank needs more; default 512M\n"
    "  -j, --json              JSON instead of a table\n"
    "  -t, --table FILE        try every algorithm and write the best ones, for NUIOA_COLL_TABLE\n"
    "      --segments LIST     with --table, these segment sizes too\n"
    "      --gain PERCENT      with --table, what it must gain at least; default 3\n"
    "  -h, --help              this text\n"
    "\n"
    "Exit status: 0; 1 if a result is wrong or it cannot be done; 2 for wrong usage.\n";

enum {
    OPTION_STEP = 256,
    OPTION_ROUNDS,
    OPTION_ROUND_MS,
    OPTION_WARMUP,
    OPTION_SEGMENTS,
    OPTION_GAIN
};

static const struct option options[] = {
    { "collectives", required_argument, NULL, 'c' },
    { "sizes", required_argument, NULL, 's' },
    { "step", required_argument, NULL, OPTION_STEP },
    { "root", required_argument, NULL, 'r' },
    { "verify", no_argument, NULL, 'v' },
    { "calls", required_argument, NULL, 'n' },
    { "rounds", required_argument, NULL, OPTION_ROUNDS },
    { "round-ms", required_argument, NULL, OPTION_ROUND_MS },
    { "warmup", required_argument, NULL, OPTION_WARMUP },
    { "memory", required_argument, NULL, 'm' },
    { "json", no_argument, NULL, 'j' },
    { "table", required_argument, NULL, 't' },
    { "segments", required_argument, NULL, OPTION_SEGMENTS },
    { "gain", required_argument, NULL, OPTION_GAIN },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads a size such as "64", "64k" or "8M". Returns its bytes, or 0 if it is malformed. */
static uint64_t read_bytes(const char *text, char **end)
{
    uint64_t n = strtoull(text, end, 10);
    if (**end == 'k' || **end == 'K')
        (*end)++, n <<= 10;
    else if (**end == 'M')
        (*end)++, n <<= 20;
    else if (**end == 'G')
        (*end)++, n <<= 30;
    return n;
}

static int read_number(const char *text, long least, long most, long *number)
{
    char *end;
    *number = strtol(text, &end, 10);
    return *text && !*end && *number >= least && *number <= most ? 0 : -EINVAL;
}

static int read_collectives(struct bench_settings *s, const char *list)
{
    char copy[256], *save;
    snprintf(copy, sizeof(copy), "%s", list);
    memset(s->wanted, 0, sizeof(s->wanted));
    for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        int call = bench_call_find(name);
        if (call < 0)
            return -EINVAL;
        s->wanted[call] = true;
    }
    return 0;
}

static int set_sizes(struct bench_settings *s, const char *range, long step)
{
    char *end;
    uint64_t low = read_bytes(range, &end), high = *end == ':' ? read_bytes(end + 1, &end) : low;
    if (*end || !low || high < low || high > 1u << 30)
        return -EINVAL;
    s->size_count = 0;
    for (uint64_t n = low; n < high && s->size_count < BENCH_SIZES_MAX - 1; n *= (uint64_t)step)
        s->sizes[s->size_count++] = n;
    s->sizes[s->size_count++] = high;
    return 0;
}

/* Returns 0; -EINVAL if the option that was read last is wrong; -E2BIG if the next word is none; or
 * 1 if the user asks for help. */
static int read_options(int argc, char **argv, struct bench_settings *s)
{
    const char *range = "1:8M";
    char *end;
    long number, step = 2;
    int c, rc = 0;
    opterr = 0;
    while (!rc && (c = getopt_long(argc, argv, "c:s:r:vn:m:jt:h", options, NULL)) != -1) {
        number = 0;
        switch (c) {
        case 'c': rc = read_collectives(s, optarg); break;
        case 's': range = optarg; break;
        case OPTION_STEP: rc = read_number(optarg, 2, 1 << 20, &step); break;
        case 'r':
            rc = strcmp(optarg, "rotate") ? read_number(optarg, 0, 1 << 30, &number) : 0;
            s->root = strcmp(optarg, "rotate") ? (int)number : -1;
            break;
        case 'v': s->verify = true; break;
        case 'n': rc = read_number(optarg, 1, 1000000, &s->calls); break;
        case OPTION_ROUNDS:
            rc = read_number(optarg, 1, BENCH_ROUNDS_MAX, &number);
            s->rounds = (int)number;
            break;
        case OPTION_ROUND_MS:
            rc = read_number(optarg, 1, 100000, &number);
            s->round_ms = (double)number;
            break;
        case OPTION_WARMUP:
            rc = read_number(optarg, 1, 1000000, &number);
            s->warmup = (int)number;
            break;
        case 'm':
            s->memory_bytes = read_bytes(optarg, &end);
            rc = *end ? -EINVAL : 0;
            break;
        case 'j': s->json = true; break;
        case 't': s->table = optarg; break;
        case OPTION_SEGMENTS: s->segments = optarg; break;
        case OPTION_GAIN: s->gain_percent = atof(optarg); break;
        case 'h': return 1;
        default: rc = -EINVAL;
        }
    }
    if (!rc)
        rc = optind < argc ? -E2BIG : set_sizes(s, range, step);
    return rc;
}

/* --- the world -------------------------------------------------------------------------------- */

/* Describes the nodes as the library sees them: NUIOA_COLL_NODES can pretend other nodes. */
static void describe_world(struct bench_world *w)
{
    const char *pretend = getenv("NUIOA_COLL_NODES");
    int count[2], rank;
    MPI_Comm node;
    PMPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &w->size);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_size(node, &w->most);
    PMPI_Comm_free(&node);
    count[0] = rank == 0;
    PMPI_Allreduce(&count[0], &w->nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(MPI_IN_PLACE, &w->most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (pretend && atoi(pretend) > 0 && atoi(pretend) <= w->size) {
        w->nodes = atoi(pretend);
        w->most = (w->size + w->nodes - 1) / w->nodes;
    }
}

/* Returns the number of rows with wrong bytes. */
static int run_all(const struct bench_settings *s, const struct bench_world *w,
                   const struct bench_library *l)
{
    int wrong = 0;
    bool first = true;
    if (w->rank == 0)
        bench_show_begin(stdout, s, w, l);
    for (int call = 0; call < bench_call_count(); call++) {
        for (int i = 0; s->wanted[call] && i < s->size_count; i++) {
            struct bench_row row;
            if ((bench_calls[call].reduces && s->sizes[i] < 4) ||
                bench_memory(&bench_calls[call], w, s->sizes[i]) > s->memory_bytes ||
                bench_measure(s, w, call, s->sizes[i], &row))
                continue;
            wrong += row.wrong[BENCH_PLAIN] || row.wrong[BENCH_LIBRARY];
            if (w->rank == 0)
                bench_show_row(stdout, s, w, &row, first);
            first = false;
        }
    }
    if (w->rank == 0)
        bench_show_end(stdout, s);
    return wrong;
}

static int run(const struct bench_settings *s, const struct bench_world *w)
{
    struct bench_library library;
    bench_library_find(&library);
    if (w->size < 2 && !s->json) { /* the JSON has no gain */
        fputs("nuioa-bench: one rank alone has nobody to talk to; start several, such as srun -N2 "
              "-n4 --nuioa-coll=on nuioa-bench-openmpi\n",
              stderr);
        return 1;
    }
    if (s->root >= w->size) {
        if (w->rank == 0)
            fprintf(stderr, "nuioa-bench: --root: there is no rank %d; the ranks are 0 to %d\n",
                    s->root, w->size - 1);
        return 2;
    }
    if (!library.overrides && !s->table && w->rank == 0)
        fputs("nuioa-bench: no library is preloaded, so both sides are the MPI library's own; use "
              "srun --nuioa-coll=on\n",
              stderr);
    if (!s->table)
        return run_all(s, w, &library) ? 1 : 0;
    int rc = bench_table(s, w, &library);
    if (rc && w->rank == 0)
        fprintf(stderr, "nuioa-bench: %s: %s\n", s->table,
                rc == -ENOSYS ? "libnuioa-coll itself must be preloaded" : strerror(-rc));
    return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct bench_settings s = {
        .root = -1,
        .rounds = 9,
        .round_ms = 20,
        .warmup = 3,
        .memory_bytes = 512 << 20,
        .gain_percent = 3,
    };
    struct bench_world w;
    for (int i = 0; i < bench_call_count(); i++)
        s.wanted[i] = true;
    int rc = read_options(argc, argv, &s);
    const char *wrong = rc < 0 && optind > 1 ? argv[optind - 1] : "";
    if (rc == -E2BIG)
        wrong = argv[optind];
    if (rc > 0) {
        fputs(help, stdout);
        return 0;
    }
    MPI_Init(&argc, &argv);
    describe_world(&w);
    if (rc < 0 && w.rank == 0)
        fprintf(stderr, "nuioa-bench: '%.80s' is wrong; see nuioa-bench --help\n", wrong);
    rc = rc < 0 ? 2 : run(&s, &w);
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return rc;
}
