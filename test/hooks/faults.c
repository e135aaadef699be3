/* SPDX-License-Identifier: BSD-3-Clause */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "launch.h"

/* Most of a launch is waiting, so that several go on at once. */
#define WORKERS 8

/* If one program makes more calls of one kind than this, which are those of a loop, and not all
 * calls are to fail, only so many of them do, at equal distances. */
#define CALLS_MAX 400

/* The counts for one kind, in memory that the workers share. */
struct row {
    uint32_t calls, launches, with_fault, lost, left, talk;
};

struct table {
    struct row rows[FAULT_KINDS];
    uint32_t shown;
};

#define SHOWN_MAX 200

/* --- one launch ------------------------------------------------------------------------------- */

/* A fault may add one line to what a program prints. Without its cache a node is another one, this
 * machine, so that the next line may be about what that lacks. A node that prints its own report
 * says why, and what went wrong there. On a busy machine a hints file may be late. */
static unsigned lines_allowed(const struct program *launched, const struct program *plain)
{
    return plain->lines + 1 + !!strstr(launched->said, "cache not used") +
           !!strstr(launched->said, "each node prints its own") +
           !!strstr(launched->said, "took more than 0.5 s");
}

static const char *talk(const struct launch *launch, const struct launch *plain)
{
    static char text[128];
    for (int i = 0; i < PROGRAMS; i++) {
        unsigned allowed = lines_allowed(&launch->programs[i], &plain->programs[i]);
        if (launch->programs[i].lines > allowed) {
            snprintf(text, sizeof(text), "%s prints %u lines, not %u", program_names[i],
                     launch->programs[i].lines, allowed);
            return text;
        }
    }
    return NULL;
}

static void add(uint32_t *to)
{
    __atomic_add_fetch(to, 1, __ATOMIC_RELAXED);
}

static void judge(struct table *table, const struct launch *launch, const struct launch *plain,
                  const struct variant *v, int program, const struct fault_plan *plan)
{
    struct row *row = &table->rows[plan->kind];
    const char *lost = launch_lost(launch, v), *left = lost ? NULL : launch_left(launch);
    const char *said = lost || left ? NULL : talk(launch, plain);
    const char *wrong = lost ? lost : left ? left : said;
    add(&row->launches);
    if (launch->programs[program].counts.hits)
        add(&row->with_fault);
    if (lost)
        add(&row->lost);
    if (left)
        add(&row->left);
    if (said)
        add(&row->talk);
    if (wrong && __atomic_add_fetch(&table->shown, 1, __ATOMIC_RELAXED) <= SHOWN_MAX)
        printf("#   --fault '%s' '%s' %s %u %s: %s\n", v->name, program_names[program],
               fault_names[plan->kind], plan->number, plan->all ? "on" : "once", wrong);
}

/* --- all launches of a variant ---------------------------------------------------------------- */

struct work {
    struct table *table;
    unsigned step, worker, item;
    struct launch *launch;
    const struct launch *plain;
};

static void fail_one(struct work *w, const struct variant *v, int program,
                     const struct fault_plan *plan)
{
    if (w->item++ % WORKERS != w->worker)
        return;
    launch_run(w->launch, v, program, plan);
    judge(w->table, w->launch, w->plain, v, program, plan);
}

static void fail_kind(struct work *w, const struct variant *v, int program, enum fault_kind kind)
{
    uint32_t calls = w->plain->programs[program].counts.calls[kind];
    if (w->worker == 0)
        w->table->rows[kind].calls += calls;
    uint32_t step = w->step > 1 && calls > CALLS_MAX ? calls / CALLS_MAX * w->step : w->step;
    for (uint32_t n = 1; n <= calls; n += step) {
        fail_one(w, v, program, &(struct fault_plan){ kind, n, false });
        fail_one(w, v, program, &(struct fault_plan){ kind, n, true });
    }
}

static void fail_variant(struct work *w, const struct variant *v)
{
    for (int program = 0; program < PROGRAMS; program++)
        for (int kind = 0; kind < FAULT_KINDS; kind++)
            fail_kind(w, v, program, (enum fault_kind)kind);
}

static void work(struct table *table, unsigned step, unsigned worker, struct launch *const *plain)
{
    struct work w = { table, step, worker, 0, launch_new(), NULL };
    if (!w.launch || !launch_prepare())
        _exit(1);
    for (unsigned i = 0; i < variant_count; i++) {
        w.plain = plain[i];
        if (w.plain)
            fail_variant(&w, &variants[i]);
    }
    launch_remove();
    fflush(stdout);
    _exit(0);
}

/* --- the table -------------------------------------------------------------------------------- */

static void write_table(const struct table *table, const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fputs("kind\tcalls\tlaunches\twith a fault\tlost\tleft something\ttoo many messages\n", file);
    for (int i = 0; i < FAULT_KINDS; i++) {
        const struct row *r = &table->rows[i];
        fprintf(file, "%s\t%u\t%u\t%u\t%u\t%u\t%u\n", fault_names[i], r->calls, r->launches,
                r->with_fault, r->lost, r->left, r->talk);
    }
    fclose(file);
}

/* A kind that no launch calls cannot be tested: then the file "wrapped" lacks something. */
static bool print_kind(int kind, const struct row *r)
{
    bool good = r->with_fault && !r->lost && !r->left && !r->talk;
    printf("%s %d - %s: %u calls, %u launches with a fault, %u lost, %u left something, %u said "
           "too much\n",
           good ? "ok" : "not ok", kind + 1, fault_names[kind], r->calls, r->with_fault, r->lost,
           r->left, r->talk);
    return good;
}

/* Launches each variant once without a fault, so that its calls are known. The workers must count
 * alike, and the number of calls is not the same in all launches. */
static bool run_plain(struct launch **plain)
{
    if (!launch_prepare())
        return false;
    for (unsigned i = 0; i < variant_count; i++) {
        if (!variants[i].faults)
            continue;
        if (!(plain[i] = launch_new()))
            return false;
        launch_run(plain[i], &variants[i], 0, NULL);
    }
    launch_remove();
    return true;
}

int faults_run(unsigned step, const char *tsv)
{
    struct launch **plain = calloc(variant_count, sizeof(struct launch *));
    struct table *table =
        mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    if (table == MAP_FAILED || !step || !plain || !run_plain(plain))
        return 2;
    bool good = true;
    fflush(stdout);
    for (unsigned i = 0; i < WORKERS; i++)
        if (fork() == 0)
            work(table, step, i, plain);
    while (wait(&status) > 0)
        good &= !status;
    for (int i = 0; i < FAULT_KINDS; i++)
        good &= print_kind(i, &table->rows[i]);
    printf("1..%d\n", FAULT_KINDS);
    write_table(table, tsv);
    return good ? 0 : 1;
}

static int index_of(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

int faults_show(char **words)
{
    const struct variant *v = NULL;
    int program = index_of(program_names, PROGRAMS, words[1]);
    int kind = index_of(fault_names, FAULT_KINDS, words[2]);
    struct launch *launch = launch_new();
    for (unsigned i = 0; i < variant_count; i++)
        if (!strcmp(variants[i].name, words[0]))
            v = &variants[i];
    if (!v || program < 0 || kind < 0 || !launch || !launch_prepare())
        return 2;
    struct fault_plan plan = { (enum fault_kind)kind, (uint32_t)atoi(words[3]),
                               !strcmp(words[4], "on") };
    launch_run(launch, v, program, &plan);
    const char *lost = launch_lost(launch, v), *left = launch_left(launch);
    for (int i = 0; i < PROGRAMS; i++)
        if (*launch->programs[i].said)
            printf("--- %s, %u lines\n%s", program_names[i], launch->programs[i].lines,
                   launch->programs[i].said);
    for (int i = 0; i < PROGRAMS; i++)
        for (int k = 0; launch->programs[i].begun && k < FAULT_KINDS; k++)
            printf("%s: %u calls of %s\n", program_names[i], launch->programs[i].counts.calls[k],
                   fault_names[k]);
    printf("%u hits, %s, %s\n", launch->programs[program].counts.hits, lost ? lost : "not lost",
           left ? left : "nothing is left");
    launch_remove();
    return lost || left ? 1 : 0;
}
