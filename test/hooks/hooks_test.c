/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/rounds.h"
#include "faults.h"
#include "launch.h"

/* Calls all hooks of the plugin without Slurm: see README.md. TAP. */

static void show(const struct launch *launch)
{
    for (int i = 0; i < PROGRAMS; i++) {
        char *copy = strdup(launch->programs[i].said), *at = copy;
        for (char *line; copy && (line = strsep(&at, "\n"));)
            if (*line)
                printf("#   %s: %s\n", program_names[i], line);
        free(copy);
    }
}

static bool is_said(const struct launch *launch, const char *word)
{
    for (int i = 0; i < PROGRAMS; i++)
        if (strstr(launch->programs[i].said, word))
            return true;
    return false;
}

/* Returns what is wrong; NULL: nothing. */
static const char *check_task(const struct task *task, const struct variant *v)
{
    static char text[256];
    for (unsigned i = 0; i < WORDS_MAX && v->has[i]; i++) {
        bool absent = *v->has[i] == '!';
        if (!strstr(task->environment, v->has[i] + absent) != absent) {
            snprintf(text, sizeof(text), "a task's environment: %s", v->has[i]);
            return text;
        }
    }
    return NULL;
}

static bool has_moved(const struct launch *launch, const struct variant *v)
{
    bool moved = false;
    for (unsigned n = 0; n < v->nodes; n++)
        for (unsigned t = 0; t < variant_tasks(v); t++)
            moved |= strcmp(launch->tasks[n][t].before, launch->tasks[n][t].cpus) != 0;
    return moved;
}

static const char *check(const struct launch *launch, const struct variant *v)
{
    static char text[256];
    unsigned lines = 0;
    const char *wrong = launch_lost(launch, v);
    const char *left = launch_left(launch);
    if (!wrong && left && !(v->leaves && strstr(left, v->leaves)))
        wrong = left;
    for (int i = 0; i < PROGRAMS; i++)
        lines += launch->programs[i].lines;
    for (unsigned i = 0; i < WORDS_MAX && v->says[i] && !wrong; i++) {
        bool absent = *v->says[i] == '!';
        snprintf(text, sizeof(text), "what is said: %s", v->says[i]);
        if (is_said(launch, v->says[i] + absent) == absent)
            wrong = text;
    }
    for (unsigned n = 0; n < v->nodes && !wrong; n++)
        for (unsigned t = 0; t < variant_tasks(v) && !wrong; t++)
            wrong = check_task(&launch->tasks[n][t], v);
    if (!wrong && lines != v->lines) {
        snprintf(text, sizeof(text), "%u messages to the user, not %u", lines, v->lines);
        wrong = text;
    }
    return !wrong && has_moved(launch, v) != v->moves ? "which ranks have moved" : wrong;
}

static bool run_variant(unsigned number, struct launch *launch, bool always)
{
    const struct variant *v = &variants[number];
    const char *skip = launch_cpus() < 2                     ? "this takes two CPUs"
                       : v->contained && RUNNING_ON_VALGRIND ? "valgrind shares no memory"
                       : v->root && geteuid()                ? "this takes root"
                                                             : NULL;
    if (skip) {
        printf("ok %u - %s # SKIP %s\n", number + 1, v->name, skip);
        return true;
    }
    const struct fault_plan bind = { FAULT_BIND, v->bind, false };
    launch_run(launch, v, PROGRAM_STEPD, v->bind ? &bind : NULL);
    const char *wrong = check(launch, v);
    printf("%s %u - %s\n", wrong ? "not ok" : "ok", number + 1, v->name);
    if (wrong)
        printf("#   wrong: %s\n", wrong);
    if (wrong || always)
        show(launch);
    if (wrong || always)
        for (unsigned n = 0; n < v->nodes; n++)
            for (unsigned t = 0; t < variant_tasks(v); t++) {
                const struct task *task = &launch->tasks[n][t];
                printf("#   task %u of node %u: CPUs %s -> %s\n", t, n, task->before, task->cpus);
                for (const char *at = task->environment; (at = strstr(at, "NUIOA_"));) {
                    size_t length = strcspn(at, "\n");
                    printf("#     %.*s\n", (int)length, at);
                    at += length;
                }
            }
    fflush(stdout);
    return !wrong;
}

static int run_variants(const char *only)
{
    struct launch *launch = launch_new();
    bool good_start = launch && launch_prepare(), good = good_start;
    for (unsigned i = 0; i < variant_count && good_start; i++)
        if (!only || strstr(variants[i].name, only))
            good &= run_variant(i, launch, only != NULL);
    launch_remove();
    if (!only)
        printf("1..%u\n", variant_count);
    return good ? 0 : 1;
}

static int usage(void)
{
    fputs("hooks_test [NAME]\n"
          "hooks_test --faults STEP [FILE.tsv]\n"
          "hooks_test --fault VARIANT PROGRAM KIND NUMBER once|on\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && !strcmp(argv[1], "--faults"))
        return argc > 2 ? faults_run((unsigned)atoi(argv[2]), argv[3]) : usage();
    if (argc > 1 && !strcmp(argv[1], "--fault"))
        return argc > 6 ? faults_show(argv + 2) : usage();
    return run_variants(argc > 1 ? argv[1] : NULL);
}
