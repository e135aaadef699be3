/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/job.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/trace/comm.h"
#include "mpi/trace/table.h"
#include "util/new_file.h"

struct line {
    uint32_t source, target;
    uint64_t ring; /* 1: of the rings that stand for collectives */
    struct trace_count count;
};

/* The trace, from trace_begin until the profile is written. */
static struct {
    bool open;
    pid_t pid; /* a forked child has another pid, and must not write */
    int rank, size;
    char path[PATH_MAX];
} job;

/* Tells the user that there is no profile. */
static void complain(const char *what, const char *why)
{
    fprintf(stderr, "nuioa: trace: %s: %s: %s\n", job.path, what, why);
}

/* --- the start ------------------------------------------------------------------------------- */

/* Makes the path absolute, because the program may change its directory before the end. */
static int choose_path(void)
{
    const char *file = getenv("NUIOA_TRACE_FILE");
    char here[PATH_MAX] = "";
    if (!file || !*file)
        return -EINVAL;
    if (*file != '/' && !getcwd(here, sizeof(here)))
        return -errno;
    int n = snprintf(job.path, sizeof(job.path), *file == '/' ? "%s%s" : "%s/%s", here, file);
    return n > 0 && (size_t)n < sizeof(job.path) ? 0 : -ENAMETOOLONG;
}

void trace_begin(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    int level = MPI_THREAD_SINGLE;
    /* Spawned processes have another MPI_COMM_WORLD, whose ranks would be mixed up with ours. */
    PMPI_Comm_get_parent(&parent);
    if (job.open || parent != MPI_COMM_NULL || choose_path())
        return;
    PMPI_Query_thread(&level);
    PMPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &job.size);
    if (trace_comm_open()) {
        complain("not recorded", "MPI_Comm_create_keyval failed; the program runs without a trace");
        return;
    }
    trace_table_open(job.size, level == MPI_THREAD_MULTIPLE);
    job.pid = getpid();
    job.open = true;
}

/* --- what a rank has ------------------------------------------------------------------------- */

/* Calls `take` for each line of this rank. */
static void for_lines(void (*take)(void *to, const struct line *line), void *to)
{
    uint32_t me = (uint32_t)job.rank;
    for (uint32_t i = 0; i < (uint32_t)job.size; i++)
        for (enum trace_direction d = 0; d < TRACE_DIRECTIONS; d++) {
            const struct trace_count *count = trace_counted(d, (int)i);
            bool from = d == TRACE_FROM;
            if (count)
                take(to, &(struct line){ from ? i : me, from ? me : i, d == TRACE_RING, *count });
        }
}

/* --- the file -------------------------------------------------------------------------------- */

/* Returns false, and tells the user, if the file cannot be written. */
static bool output_open(struct nuioa_new_file *out, bool partial)
{
    struct nuioa_error err;
    if (nuioa_new_file_open(out, job.path, &err)) {
        fprintf(stderr, "nuioa: trace: cannot be written: %s\n", err.text);
        return false;
    }
    fprintf(out->stream, "nuioa-profile 1\nranks %d%s\n", job.size, partial ? " partial" : "");
    return true;
}

static void output_line(void *to, const struct line *line)
{
    struct nuioa_new_file *out = to;
    fprintf(out->stream, "%s %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            line->ring ? "coll" : "pair", line->source, line->target, line->count.bytes,
            line->count.msgs, line->count.large_bytes);
}

/* Returns true if the file is there. */
static bool output_close(struct nuioa_new_file *out, bool keep)
{
    struct nuioa_error err;
    int rc = nuioa_new_file_close(out, keep, job.path, &err);
    if (rc)
        fprintf(stderr, "nuioa: trace: cannot be written: %s\n", err.text);
    return keep && !rc;
}

/* Says what can be done with the file. */
static void say_what_next(void)
{
    const char *file = getenv("NUIOA_TRACE_FILE");
    if (file && *file)
        fprintf(stderr,
                "nuioa: trace: written. To use it: srun --nuioa=report --nuioa-hints=%s%s ...\n",
                strchr(file, '/') ? "" : "./", file);
}

/* --- the end --------------------------------------------------------------------------------- */

/* Lines on their way to rank 0, which come in parts of this size; the last one is shorter, and may
 * be empty. So neither side needs memory at the end, when there may be none. */
#ifndef PART_LINES /* a test has smaller ones */
#define PART_LINES 512
#endif
static struct part {
    MPI_Comm comm;
    int count;
    bool failed;
    struct line lines[PART_LINES];
} part;

static void send_part(struct part *p)
{
    if (!p->failed)
        p->failed = PMPI_Send(p->lines, (int)(p->count * sizeof(*p->lines)), MPI_BYTE, 0, 0,
                              p->comm) != MPI_SUCCESS;
    p->count = 0;
}

static void send_line(void *to, const struct line *line)
{
    struct part *p = to;
    p->lines[p->count++] = *line;
    if (p->count == PART_LINES)
        send_part(p);
}

/* Receives the lines of a rank, and writes them unless `out` is NULL. Returns false if MPI reports
 * an error. */
static bool receive(struct part *p, int rank, struct nuioa_new_file *out)
{
    int bytes = sizeof(p->lines);
    while (bytes == sizeof(p->lines)) {
        MPI_Status status;
        if (PMPI_Recv(p->lines, sizeof(p->lines), MPI_BYTE, rank, 0, p->comm, &status) !=
                MPI_SUCCESS ||
            PMPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS)
            return false;
        for (size_t i = 0; out && i < bytes / sizeof(*p->lines); i++)
            output_line(out, &p->lines[i]);
    }
    return true;
}

/* In rank 0: writes the lines of all ranks, one rank after the other. Without a file it receives
 * them nevertheless, because the others wait. `lossy` is the number of ranks that had no memory to
 * count all. */
static void collect(struct part *p, int lossy)
{
    struct nuioa_new_file file, *out = output_open(&file, lossy > 0) ? &file : NULL;
    bool all = true, there = false;
    if (out)
        for_lines(output_line, out);
    for (int rank = 1; rank < job.size; rank++)
        all &= receive(p, rank, out);
    if (out)
        there = output_close(out, all);
    if (!all)
        complain("not written", "MPI_Recv failed");
    else if (lossy)
        fprintf(stderr,
                "nuioa: trace: %s: partial: %d of %d ranks had no memory to count all messages\n",
                job.path, lossy, job.size);
    else if (there)
        say_what_next();
}

void trace_end(void)
{
    if (!job.open)
        return;
    job.open = false;
    /* A communicator of our own keeps the program's messages and error handler apart. */
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &part.comm) == MPI_SUCCESS) {
        int lost = trace_lost(), lossy = 0;
        PMPI_Comm_set_errhandler(part.comm, MPI_ERRORS_RETURN);
        PMPI_Reduce(&lost, &lossy, 1, MPI_INT, MPI_SUM, 0, part.comm);
        if (job.rank) {
            for_lines(send_line, &part);
            send_part(&part);
        } else {
            collect(&part, lossy);
        }
        PMPI_Comm_free(&part.comm);
    } else if (!job.rank) {
        complain("not written", "MPI_Comm_dup failed");
    }
    trace_table_close();
}

/* The other ranks cannot be asked any more. Each rank that ends in this way writes a complete file;
 * that of the last one remains. */
void trace_cut_short(void)
{
    struct nuioa_new_file out;
    if (!job.open || job.pid != getpid())
        return;
    job.open = false;
    if (!output_open(&out, true))
        return;
    for_lines(output_line, &out);
    output_close(&out, true);
}

/* The program has called exit without MPI_Finalize. */
static void __attribute__((destructor)) trace_exit(void)
{
    trace_cut_short();
}
