/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/job.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/coll/type.h"
#include "util/hash.h"

struct coll_job coll_job = { .least = UINT64_MAX };

static struct {
    uint64_t led, passed;
} counts;

/* Writes one line to stderr, on the first rank only. */
static void __attribute__((format(printf, 1, 2))) print_line(const char *format, ...)
{
    char line[512];
    va_list list;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    fprintf(stderr, "nuioa: coll: %s\n", line);
}

/* --- the user's settings: each rank reads them, the first rank reports errors ----------------- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void read_switch(struct coll_job *job)
{
    const char *value = variable("NUIOA_COLL");
    job->force = value && !strcmp(value, "force");
    job->quiet = value && !strcmp(value, "auto");
    job->on = !value || job->force || job->quiet || !strcmp(value, "on");
    if (!job->on && strcmp(value, "off"))
        print_line("not used: NUIOA_COLL=%s is not one of on, auto, off, force", value);
}

static void read_table(struct coll_job *job)
{
    const char *path = variable("NUIOA_COLL_TABLE");
    char why[128] = "";
    coll_table_default(&job->table);
    if (path && coll_table_read(&job->table, path, why, sizeof(why)) < 0)
        print_line("%s: %s; the built-in table is used", path, why);
    else if (*why)
        print_line("%s: %s", path, why);
}

static int choose(struct coll_job *job, const char *name, const char *text)
{
    if (strcmp(name, "bcast") || (text && coll_algorithm_parse(text, &job->chosen) < 0))
        return -EINVAL;
    job->is_chosen = text != NULL;
    return 0;
}

/* Reads "bcast=chain+window:65536". In a list, the last item counts. */
static void read_choice(struct coll_job *job)
{
    const char *list = variable("NUIOA_COLL_ALGORITHM");
    char *copy = list ? strdup(list) : NULL, *save;
    for (char *item = copy ? strtok_r(copy, ",", &save) : NULL; item;
         item = strtok_r(NULL, ",", &save)) {
        char *text = strchr(item, '=');
        if (text)
            *text++ = '\0';
        if (!text || choose(job, item, text) < 0)
            print_line("NUIOA_COLL_ALGORITHM: \"%s\" is ignored: bcast=ALGORITHM is expected",
                       item);
    }
    free(copy);
}

static void read_all(struct coll_job *job)
{
    const char *nodes = variable("NUIOA_COLL_NODES");
    read_switch(job);
    read_table(job);
    read_choice(job);
    job->stats = variable("NUIOA_COLL_STATS") != NULL;
    job->pretend = nodes ? atoi(nodes) : 0;
    if (job->pretend < 0)
        job->pretend = 0;
}

/* --- thresholds ------------------------------------------------------------------------------ */

static void set_least(struct coll_job *job)
{
    uint64_t least = coll_table_least(&job->table);
    if (job->is_chosen)
        least = job->chosen.pass ? UINT64_MAX : 1;
    else if (job->force || least < 1)
        least = 1;
    job->least = job->on ? least : UINT64_MAX;
}

/* --- agreeing -------------------------------------------------------------------------------- */

static uint64_t add_algorithm(uint64_t sum, const struct coll_algorithm *a)
{
    return nuioa_hash_u64(nuioa_hash_u64(sum, a->segment_bytes),
                          (uint64_t)a->pass << 16 | (uint64_t)a->inter << 8 | (uint64_t)a->intra);
}

/* Returns a number over all settings that decide how a call is made. It is never 0. */
static uint64_t digest(const struct coll_job *job)
{
    uint64_t sum = NUIOA_HASH_START;
    for (const char *at = NUIOA_VERSION; *at; at++)
        sum = nuioa_hash_u64(sum, (unsigned char)*at);
    sum = nuioa_hash_u64(nuioa_hash_u64(sum, job->force), (uint64_t)job->pretend);
    sum = nuioa_hash_u64(sum, job->is_chosen);
    if (job->is_chosen)
        sum = add_algorithm(sum, &job->chosen);
    for (uint32_t i = 0; i < job->table.row_count; i++) {
        const struct coll_row *row = &job->table.rows[i];
        sum = nuioa_hash_u64(nuioa_hash_u64(sum, row->node_low), row->node_high);
        sum = nuioa_hash_u64(nuioa_hash_u64(nuioa_hash_u64(sum, row->most_low), row->most_high),
                             row->from_bytes);
        sum = add_algorithm(sum, &row->algorithm);
    }
    return sum ? sum : 1;
}

bool coll_job_agree(MPI_Comm comm)
{
    static bool said;
    uint64_t mine = coll_job.on ? digest(&coll_job) : 0;
    uint64_t vote[2] = { mine, ~mine }; /* one maximum finds the largest and the smallest */
    if (PMPI_Allreduce(MPI_IN_PLACE, vote, 2, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS)
        return false;
    bool same = vote[0] == ~vote[1];
    if (!same)
        coll_job_note(COLL_SAID);
    if (!same && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        print_line("not used: the ranks have different settings; give all of them the same "
                   "NUIOA_COLL* variables and table");
    return same && mine;
}

/* --- begin and end --------------------------------------------------------------------------- */

/* Returns whether several threads may call MPI at once. The library is off then: it is not shown
 * that there is no deadlock if one thread waits in a window and another one for a message. */
static bool may_have_threads(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE)
        print_line("not used: the program asked MPI_Init_thread for MPI_THREAD_MULTIPLE, and the "
                   "library supports MPI_THREAD_SERIALIZED at most");
    return level == MPI_THREAD_MULTIPLE;
}

/* No message is sent here: a program that calls no collective must start as fast as without this
 * library. Besides, Open MPI 4.1 may crash a rank that is still in MPI_Init if another rank sends
 * it a message over btl/tcp. */
void coll_job_begin(void)
{
    read_all(&coll_job);
    if (coll_job.on && (may_have_threads() || !coll_type_packs_plainly()))
        coll_job.on = false;
    set_least(&coll_job);
}

/* --- why nothing was led ---------------------------------------------------------------------- */

/* The first rank alone cannot ask the others at the end, so before a communicator was looked at
 * Slurm must say that the step has one node. */
static enum coll_reason final_reason(void)
{
    const char *nodes = variable("SLURM_STEP_NUM_NODES");
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (coll_job.reason < COLL_ONE_NODE && !coll_job.pretend &&
        (size == 1 || (nodes && !strcmp(nodes, "1"))))
        return COLL_ONE_NODE;
    return coll_job.reason;
}

static const char *reason_text(enum coll_reason reason, char *text, size_t size)
{
    unsigned long long least = coll_job.least;
    switch (reason) {
    case COLL_NO_CALL: return "the program made no broadcast; leave coll=on out";
    case COLL_SMALL:
        snprintf(text, size,
                 "no broadcast had %llu bytes or more, from where on they are led "
                 "(NUIOA_COLL_TABLE may name another table)",
                 least);
        return text;
    case COLL_FEW:
        snprintf(text, size,
                 "no communicator made more than two broadcasts of %llu bytes or more, and those "
                 "are not led",
                 least);
        return text;
    case COLL_ONE_NODE: return "the ranks are on one node; coll=on is for several";
    case COLL_ONE_RANK: return "each node has one rank; coll=on is for several on each";
    case COLL_NO_ADVICE:
        return "no rank was told who leads its node; use srun --nuioa, without leader=off and "
               "export=none";
    case COLL_CROWDED:
        return "ranks share CPUs; give each rank its own, with fewer ranks or srun "
               "--cpu-bind=cores";
    case COLL_NO_ROW:
        return "no row of the table is for these nodes, ranks and bytes (NUIOA_COLL_TABLE may name "
               "another table, and nuioa-bench --table makes one)";
    case COLL_DEVICE: return "buffers are in the memory of GPUs; leave coll=on out";
    default: return NULL;
    }
}

void coll_job_end(void)
{
    char text[160];
    if (coll_job.on && coll_job.stats && (counts.led || counts.passed))
        print_line("bcast led=%llu passed=%llu", (unsigned long long)counts.led,
                   (unsigned long long)counts.passed);
    bool chosen = coll_job.is_chosen && coll_job.chosen.pass;
    const char *why = reason_text(final_reason(), text, sizeof(text));
    if (coll_job.on && !coll_job.quiet && !chosen && why)
        print_line("nothing was led: %s", why);
    coll_job.on = false;
    coll_job.least = UINT64_MAX;
}

void coll_job_count(bool led)
{
    __atomic_fetch_add(led ? &counts.led : &counts.passed, 1, __ATOMIC_RELAXED);
}

/* --- for nuioa-bench ------------------------------------------------------------------------- */

#define EXPORTED __attribute__((visibility("default")))

/* nuioa-bench finds these three with dlsym. nuioa_coll_algorithms returns NULL for a collective
 * that is not led. nuioa_coll_choose sets the algorithm of a collective; NULL gives the choice back
 * to the table. It returns 0, or -1 if a name is wrong. */
EXPORTED const char *nuioa_coll_version(void);
EXPORTED const char *nuioa_coll_algorithms(const char *collective);
EXPORTED int nuioa_coll_choose(const char *collective, const char *algorithm);

const char *nuioa_coll_version(void)
{
    return NUIOA_VERSION;
}

const char *nuioa_coll_algorithms(const char *collective)
{
    return strcmp(collective, "bcast") ? NULL : coll_algorithm_names();
}

int nuioa_coll_choose(const char *collective, const char *algorithm)
{
    int rc = choose(&coll_job, collective, algorithm);
    set_least(&coll_job);
    return rc < 0 ? -1 : 0;
}
