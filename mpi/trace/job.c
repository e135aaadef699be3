/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "mpi/trace/comm.h"
#include "mpi/trace/table.h"

struct line {
    uint32_t source, target;
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
    return n > 0 && (size_t)n < sizeof(job.path) - 16 ? 0 : -ENAMETOOLONG;
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

static void add_line(struct line *lines, uint32_t *count, uint32_t source, uint32_t target,
                     const struct trace_count *counted)
{
    if (!counted)
        return;
    if (lines)
        lines[*count] = (struct line){ source, target, *counted };
    ++*count;
}

/* Fills in the lines and returns their number. With NULL it only counts them. */
static uint32_t list_lines(struct line *lines)
{
    uint32_t count = 0, me = (uint32_t)job.rank;
    for (int i = 0; i < job.size; i++) {
        add_line(lines, &count, me, (uint32_t)i, trace_counted(TRACE_TO, i));
        add_line(lines, &count, (uint32_t)i, me, trace_counted(TRACE_FROM, i));
    }
    return count;
}

/* --- the file -------------------------------------------------------------------------------- */

struct output {
    FILE *file;
    char path[PATH_MAX]; /* of the temporary file, which is renamed when it is complete */
};

/* Creates the temporary file, with a name that no other file has. It does not ask for the umask,
 * which the kernel applies: umask() changes it for all threads of the program. Returns the
 * descriptor, or a negative number with errno. */
static int create_temporary(struct output *out)
{
    size_t length = strlen(job.path);
    int fd = -1;
    memcpy(out->path, job.path, length);
    errno = EEXIST;
    for (unsigned tries = 0; fd < 0 && errno == EEXIST && tries < 100; tries++) {
        uint32_t number;
        if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
            number = (uint32_t)getpid() + tries;
        /* choose_path has left room for it */
        snprintf(out->path + length, 16, ".%08" PRIx32, number);
        fd = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

static int output_open(struct output *out, bool partial)
{
    int fd = create_temporary(out);
    out->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out->file) {
        int rc = -errno;
        complain("cannot be written", strerror(errno));
        if (fd >= 0) {
            close(fd);
            unlink(out->path);
        }
        return rc;
    }
    fprintf(out->file, "nuioa-profile 1\nranks %d%s\n", job.size, partial ? " partial" : "");
    return 0;
}

static void output_lines(struct output *out, const struct line *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(out->file, "pair %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", lines[i].source,
                lines[i].target, lines[i].count.bytes, lines[i].count.msgs,
                lines[i].count.large_bytes);
}

static void output_close(struct output *out, bool good)
{
    bool bad = ferror(out->file);
    if (fclose(out->file) || bad || (good && rename(out->path, job.path))) {
        complain("cannot be written", strerror(errno));
        good = false;
    }
    if (!good)
        unlink(out->path);
}

/* --- the end --------------------------------------------------------------------------------- */

/* The first rank receives the lines of one rank after the other, so that it needs room for one rank
 * only. */
static int collect(struct output *out, MPI_Comm comm)
{
    for (int rank = 1; rank < job.size; rank++) {
        uint32_t count = 0;
        if (PMPI_Recv(&count, 1, MPI_UINT32_T, rank, 0, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return -EIO;
        struct line *lines = count ? malloc(count * sizeof(*lines)) : NULL;
        /* Without memory the lines must be received nevertheless, because the sender waits. */
        if (count && !lines)
            return -ENOMEM;
        int rc = count ? PMPI_Recv(lines, (int)(count * sizeof(*lines)), MPI_BYTE, rank, 0, comm,
                                   MPI_STATUS_IGNORE)
                       : MPI_SUCCESS;
        if (rc == MPI_SUCCESS && out->file)
            output_lines(out, lines, count);
        free(lines);
        if (rc != MPI_SUCCESS)
            return -EIO;
    }
    return 0;
}

static void hand_in(const struct line *lines, uint32_t count, MPI_Comm comm)
{
    if (PMPI_Send(&count, 1, MPI_UINT32_T, 0, 0, comm) == MPI_SUCCESS && count)
        PMPI_Send(lines, (int)(count * sizeof(*lines)), MPI_BYTE, 0, 0, comm);
}

void trace_end(void)
{
    struct output out = { 0 };
    MPI_Comm comm;
    if (!job.open)
        return;
    uint32_t count = list_lines(NULL);
    struct line *lines = malloc((count ? count : 1) * sizeof(*lines));
    count = lines ? list_lines(lines) : 0;
    job.open = false;
    /* A communicator of our own keeps the program's messages and error handler apart. */
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (job.rank) {
            hand_in(lines, count, comm);
        } else {
            bool good = !output_open(&out, false);
            if (good)
                output_lines(&out, lines, count);
            int rc = collect(&out, comm);
            if (out.file)
                output_close(&out, !rc);
        }
        PMPI_Comm_free(&comm);
    }
    free(lines);
    trace_table_close();
}

/* The other ranks cannot be asked any more. Each rank that ends in this way writes a complete file;
 * that of the last one remains. */
void trace_cut_short(void)
{
    struct output out = { 0 };
    if (!job.open || job.pid != getpid())
        return;
    job.open = false;
    uint32_t count = list_lines(NULL);
    struct line *lines = malloc((count ? count : 1) * sizeof(*lines));
    if (lines && !output_open(&out, true)) {
        output_lines(&out, lines, list_lines(lines));
        output_close(&out, true);
    }
    free(lines);
}

/* The program has called exit without MPI_Finalize. */
static void __attribute__((destructor)) trace_exit(void)
{
    trace_cut_short();
}
