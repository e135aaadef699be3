/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"
#include "programs.h"
#include "stand_in.h"

/* A program that takes longer hangs. */
#define SECONDS 60

/* How long a process may end after its parent. */
#define ORPHAN_MS 5000

/* The user, if root runs the test. */
#define NOBODY 65534

const char *const program_names[PROGRAMS] = { "slurmd",       "salloc",       "srun",
                                              "slurmstepd 0", "slurmstepd 1", "slurmstepd 2",
                                              "slurmstepd 3", "tasks" };

unsigned variant_tasks(const struct variant *v)
{
    return v->tasks ? v->tasks : 2;
}

unsigned variant_width(const struct variant *v)
{
    return v->cpus_per_task ? v->cpus_per_task : 1;
}

static int output[PROGRAMS]; /* each program's stderr */

bool launch_prepare(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a program leaves behind comes here */
    for (int i = 0; i < PROGRAMS; i++)
        if ((output[i] = memfd_create("stderr", 0)) < 0)
            return false;
    return place_make();
}

void launch_remove(void)
{
    place_remove();
}

struct launch *launch_new(void)
{
    void *memory = mmap(NULL, sizeof(struct launch), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

unsigned launch_cpus(void)
{
    return place_cpu_count();
}

static pid_t start(struct role role, int program, void (*run)(const struct role *))
{
    if (role.program != program)
        role.plan.number = 0;
    if (role.program != PROGRAM_TASKS)
        role.task_plan.number = 0;
    role.program = program;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(SECONDS);
        stand_in.uid = getuid() ? getuid() : role.variant->root ? 0 : NOBODY;
        dup2(output[program], STDERR_FILENO);
        run(&role);
        _exit(1);
    }
    return pid;
}

/* Waits for a child; one that did not end by itself is noted. */
static void finish(struct launch *launch, int program, pid_t pid)
{
    int status = 0;
    struct program *p = &launch->programs[program];
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!status)
        return;
    size_t used = strlen(p->left);
    snprintf(p->left + used, sizeof(p->left) - used,
             WIFSIGNALED(status) ? "signal %d; " : "status %d; ",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    p->ended = false;
}

/* --- afterwards ------------------------------------------------------------------------------- */

/* A message to the user: a line by Slurm, why there is no common report, or a fault of a node in
 * front of its own report; not the report itself. */
static bool is_message(const char *line)
{
    unsigned node;
    int end = 0;
    return !strncmp(line, "user: ", 6) || !strncmp(line, "nuioa: report: ", 15) ||
           (sscanf(line, "nuioa: n%u: %n", &node, &end) == 1 && end);
}

static unsigned count_messages(const char *said)
{
    unsigned count = 0;
    for (const char *line = said; *line; line += *line == '\n') {
        count += is_message(line);
        line += strcspn(line, "\n");
    }
    return count;
}

static void read_output(struct launch *launch)
{
    for (int i = 0; i < PROGRAMS; i++) {
        struct program *p = &launch->programs[i];
        ssize_t length = pread(output[i], p->said, sizeof(p->said) - 1, 0);
        p->said[length < 0 ? 0 : length] = '\0';
        p->lines = count_messages(p->said);
        if (ftruncate(output[i], 0) < 0)
            abort();
        lseek(output[i], 0, SEEK_SET);
    }
}

static bool is_expected(const char *name)
{
    static const char *const names[] = {
        ".",        "..",       "sys",          "proc",         "shim",         "n0.cache",
        "n1.cache", "n2.cache", "n3.cache",     "pairs.txt",    "many.txt",     "huge.txt",
        "node.xml", "open.xml", "gpu-n0.cache", "gpu-n1.cache", "gpu-n2.cache", "gpu-n3.cache",
        NULL
    };
    for (const char *const *known = names; *known; known++)
        if (!strcmp(name, *known))
            return true;
    return false;
}

/* Caches that the launch has made may be there; anything else is left behind. */
static void read_files(struct launch *launch)
{
    DIR *directory = opendir(stand_in_directory);
    char path[512];
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (is_expected(entry->d_name))
            continue;
        if (strcmp(entry->d_name, "none.cache") && strcmp(entry->d_name, "slurmd.cache"))
            snprintf(launch->files, sizeof(launch->files), "file %s is left", entry->d_name);
        snprintf(path, sizeof(path), "%s/%s", stand_in_directory, entry->d_name);
        unlink(path);
    }
    if (directory)
        closedir(directory);
}

/* --- a launch --------------------------------------------------------------------------------- */

static void run_first(const struct role *role)
{
    if (role->variant->slurmd) {
        finish(role->launch, PROGRAM_SLURMD, start(*role, PROGRAM_SLURMD, program_slurmd));
        while (waitpid(-1, NULL, 0) > 0) /* what it left to itself */
            ;
    }
    if (role->variant->allocator)
        finish(role->launch, PROGRAM_ALLOCATOR, start(*role, PROGRAM_ALLOCATOR, program_allocator));
}

static pid_t run_srun(const struct role *role, int ready[2], int over[2])
{
    char byte;
    struct role mine = *role;
    mine.ready = ready[1];
    mine.end = over[0];
    pid_t pid = fork();
    if (pid == 0) {
        close(over[1]);
        close(ready[0]);
        pid_t srun = start(mine, PROGRAM_SRUN, program_srun);
        close(ready[1]);
        finish(role->launch, PROGRAM_SRUN, srun);
        _exit(0);
    }
    close(ready[1]);
    close(over[0]);
    if (read(ready[0], &byte, 1) < 0)
        perror("srun");
    close(ready[0]);
    return pid;
}

static void run_nodes(const struct role *role)
{
    pid_t pids[NODES_MAX];
    for (unsigned i = 0; i < role->variant->nodes; i++)
        pids[i] = start(*role, PROGRAM_STEPD + (int)i, program_stepd);
    for (unsigned i = 0; i < role->variant->nodes; i++)
        finish(role->launch, PROGRAM_STEPD + (int)i, pids[i]);
}

/* Processes that the programs have left come to this one. A killed one may take a moment. */
static void find_orphans(struct launch *launch)
{
    pid_t pid;
    for (int tries = 0; (pid = waitpid(-1, NULL, WNOHANG)) >= 0; tries += !pid) {
        if (!pid)
            usleep(1000);
        if (tries < ORPHAN_MS)
            continue;
        snprintf(launch->files, sizeof(launch->files), "a process is left");
        return;
    }
}

void launch_run(struct launch *launch, const struct variant *v, int program,
                const struct fault_plan *plan)
{
    int ready[2], over[2];
    struct role role = { .launch = launch, .variant = v, .program = program };
    if (plan)
        role.plan = role.task_plan = *plan;
    role.task_stderr = output[PROGRAM_TASKS];
    memset(launch, 0, sizeof(*launch));
    if (!place_put_caches())
        abort();
    run_first(&role);
    if (pipe(ready) < 0 || pipe(over) < 0)
        abort();
    pid_t srun = run_srun(&role, ready, over);
    run_nodes(&role);
    close(over[1]);
    waitpid(srun, NULL, 0);
    find_orphans(launch);
    read_output(launch);
    read_files(launch);
}

/* --- what has become of it -------------------------------------------------------------------- */

static bool is_bad(const char *said)
{
    return strstr(said, "Sanitizer") || strstr(said, "runtime error");
}

const char *launch_lost(const struct launch *launch, const struct variant *v)
{
    static char text[1024];
    for (int i = 0; i < PROGRAMS; i++) {
        const struct program *p = &launch->programs[i];
        if (p->begun && i != PROGRAM_TASKS && !p->ended)
            snprintf(text, sizeof(text), "%s: %s", program_names[i], p->left);
        else if (is_bad(p->said))
            snprintf(text, sizeof(text), "%s: a sanitizer", program_names[i]);
        else
            continue;
        return text;
    }
    for (unsigned n = 0; n < v->nodes && !v->no_tasks; n++)
        for (unsigned t = 0; t < variant_tasks(v); t++)
            if (!launch->tasks[n][t].ended) {
                snprintf(text, sizeof(text), "task %u of node %u did not run", t, n);
                return text;
            }
    return NULL;
}

const char *launch_left(const struct launch *launch)
{
    static char text[1024];
    for (int i = 0; i < PROGRAMS; i++)
        if (*launch->programs[i].left) {
            snprintf(text, sizeof(text), "%s: %s", program_names[i], launch->programs[i].left);
            return text;
        }
    return *launch->files ? launch->files : NULL;
}
