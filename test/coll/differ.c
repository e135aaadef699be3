/* SPDX-License-Identifier: BSD-3-Clause */

/* Makes each broadcast twice, by its MPI name and by its PMPI name, on random communicators with
 * random roots, types and counts, and compares. With a library preloaded that overrides the MPI
 * names this is the library against the plain MPI; without one it tests itself.
 *
 * Usage: differ [--calls N] [--seed N] [--bytes MAX] [--threads] [--timeout SECONDS] [--churn N]
 *               [--leave] [--verbose]
 *
 * Exit status 0 if there is no difference, 1 if there are some, 3 if a call did not end in time
 * (its description is on stderr). */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "differ.h"

#define THREADS 2

struct settings {
    long calls, churn;
    uint64_t seed;
    size_t bytes;
    int timeout_s;
    bool threads, leave, verbose;
};

/* Only the watchdog reads these. */
static struct context *watched[THREADS];

static void late(int number)
{
    (void)number;
    for (int i = 0; i < THREADS; i++) {
        if (!watched[i])
            continue;
        const char *parts[] = { "differ: no progress: ", watched[i]->before, ", then ",
                                watched[i]->what, "\n" };
        for (int k = 0; k < 5; k++)
            if (write(2, parts[k], strlen(parts[k])) < 0)
                break;
    }
    _exit(3);
}

static bool parse(int argc, char **argv, struct settings *s)
{
    *s = (struct settings){ .calls = 1000, .seed = 1, .bytes = 256 << 10, .timeout_s = 120 };
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(a, "--threads"))
            s->threads = true;
        else if (!strcmp(a, "--leave"))
            s->leave = true;
        else if (!strcmp(a, "--verbose"))
            s->verbose = true;
        else if (!v)
            return false;
        else if (!strcmp(a, "--calls"))
            s->calls = atol(v), i++;
        else if (!strcmp(a, "--seed"))
            s->seed = strtoull(v, NULL, 10), i++;
        else if (!strcmp(a, "--bytes"))
            s->bytes = strtoull(v, NULL, 10), i++;
        else if (!strcmp(a, "--timeout"))
            s->timeout_s = atoi(v), i++;
        else if (!strcmp(a, "--churn"))
            s->churn = atol(v), i++;
        else
            return false;
    }
    return true;
}

/* Finds the functions that libnuioa-coll has for nuioa-bench, if it is preloaded. */
static void find_functions(struct context *x)
{
    void *choose = dlsym(RTLD_DEFAULT, "nuioa_coll_choose");
    void *algorithms = dlsym(RTLD_DEFAULT, "nuioa_coll_algorithms");
    memcpy(&x->choose, &choose, sizeof(choose));
    memcpy(&x->algorithms, &algorithms, sizeof(algorithms));
}

struct job {
    const struct settings *settings;
    MPI_Comm world;
    int number;
    long differences, comparisons, made, freed;
};

static void *work(void *argument)
{
    struct job *job = argument;
    const struct settings *s = job->settings;
    struct context *x = calloc(1, sizeof(*x));
    if (!x)
        abort();
    x->seed = draw_hash(s->seed, (uint64_t)job->number, 0, 0) | 1;
    x->draw.state = x->seed;
    x->max_bytes = s->bytes;
    x->verbose = s->verbose;
    comms_begin(&x->comms, job->world);
    types_make(&x->types);
    if (!s->threads)
        find_functions(x);
    watched[job->number] = x;
    for (x->step = 0; x->step < s->calls; x->step++) {
        alarm((unsigned)s->timeout_s);
        comms_step(&x->comms, &x->draw, &x->before);
        call_step(x);
    }
    snprintf(x->what, sizeof(x->what), "the end");
    types_free(&x->types);
    if (!s->leave)
        comms_end(&x->comms);
    if (!s->leave && x->comms.attributes_set != x->comms.attributes_deleted)
        x->differences++;
    watched[job->number] = NULL;
    job->differences = x->differences;
    job->comparisons = x->comparisons;
    job->made = x->comms.made;
    job->freed = x->comms.freed;
    if (!s->leave)
        free(x);
    return NULL;
}

/* --- what a communicator leaves behind -------------------------------------------------------- */

struct held {
    long maps, files, heap;
};

static long lines_of(const char *path)
{
    long n = 0;
    int c;
    FILE *file = fopen(path, "r");
    while (file && (c = getc(file)) != EOF)
        n += c == '\n';
    if (file)
        fclose(file);
    return n;
}

static struct held held_now(void)
{
    struct held h = { lines_of("/proc/self/maps"), 0, (long)mallinfo2().uordblks };
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        h.files++;
    if (dir)
        closedir(dir);
    return h;
}

/* Makes, uses and frees a communicator n times; with MPI names if `tested`, else with PMPI
 * names. */
static void churn_once(bool tested, long n)
{
    static char data[4096];
    MPI_Comm comm;
    for (long i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int k = 0; k < 4; k++)
            (tested ? MPI_Bcast : PMPI_Bcast)(data, sizeof(data), MPI_CHAR, 0, comm);
        MPI_Comm_free(&comm);
    }
}

/* Prints the memory and files that n communicators leave, with the plain MPI and the library. */
static void churn(long n, int rank)
{
    for (int tested = 0; tested < 2; tested++) {
        churn_once(tested, 20);
        struct held before = held_now();
        churn_once(tested, n);
        struct held after = held_now();
        long more[3] = { after.maps - before.maps, after.files - before.files,
                         after.heap - before.heap };
        PMPI_Allreduce(MPI_IN_PLACE, more, 3, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0)
            printf("churn: %s: %ld communicators leave %ld maps, %ld files, %ld bytes each\n",
                   tested ? "library" : "plain", n, more[0], more[1], more[2] / n);
    }
}

/* --- running ---------------------------------------------------------------------------------- */

static void run_all(const struct settings *s, struct job *jobs, int threads)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < threads; i++) {
        jobs[i] = (struct job){ .settings = s, .number = i };
        MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].world);
    }
    for (int i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, &jobs[i]))
            abort();
    work(&jobs[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    alarm((unsigned)s->timeout_s);
    for (int i = 0; i < threads; i++)
        MPI_Comm_free(&jobs[i].world);
}

int main(int argc, char **argv)
{
    struct settings s;
    struct job jobs[THREADS] = { 0 };
    int rank, provided, threads;
    long sums[4] = { 0 };
    if (!parse(argc, argv, &s)) {
        fprintf(stderr, "usage: differ [--calls N] [--seed N] [--bytes MAX] [--threads] "
                        "[--timeout S] [--churn N] [--leave] [--verbose]\n");
        return 2;
    }
    threads = s.threads ? THREADS : 1;
    signal(SIGALRM, late);
    alarm((unsigned)s.timeout_s);
    if (s.threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (s.churn)
        churn(s.churn, rank);
    else
        run_all(&s, jobs, threads);
    for (int i = 0; i < threads; i++) {
        sums[0] += jobs[i].differences;
        sums[1] += jobs[i].comparisons;
        sums[2] += jobs[i].made;
        sums[3] += jobs[i].freed;
    }
    PMPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    const char *(*version)(void);
    void *found = dlsym(RTLD_DEFAULT, "nuioa_coll_version");
    memcpy(&version, &found, sizeof(found));
    if (rank == 0 && !s.churn)
        printf("differ: library %s, seed %llu: %ld calls, %ld compared by all ranks, "
               "%ld communicators made, %ld freed, %ld differences\n",
               version ? version() : "none", (unsigned long long)s.seed, s.calls * threads, sums[1],
               sums[2], sums[3], sums[0]);
    fflush(stdout);
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return sums[0] != 0;
}
