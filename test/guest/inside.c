/* SPDX-License-Identifier: BSD-3-Clause */
// Says what each thread and each child of a rank has, seen from inside: a line for the first
// thread, for up to 4 threads of OpenMP, of which it is one, for one that OpenMP does not know, and
// for a child that was forked.
//
//   step=0 rank=1 who=main cpus=4-5 policy=default pages=2:16 ran=2 step_cpus=0-15
//
// step: "0.1" on the second of several nodes; pages: on which NUMA nodes those lie that it touched;
// ran: the NUMA node of the CPU on which it touched them; step_cpus: the CPUs of the step's cgroup,
// of which root may give it any. It links libgomp as many programs do that have no use for it.
//
//   inside               needs gcc -fopenmp
//
// With INSIDE_MEET=DIRECTORY and INSIDE_RANKS=N it waits there until N ranks, of whichever steps,
// have come, so that steps run at the same time; after a minute it says alone=1.

#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 16
#define MAX_NUMA 64
#define THREADS 4

enum { GET_NODE = 1, OF_ADDRESS = 2 }; // MPOL_F_NODE, MPOL_F_ADDR

static char step_cpus[1024] = "";
static int alone;

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

static void add_cpus(FILE *out)
{
    static const char field[] = "Cpus_allowed_list:";
    char path[64], text[1024];

    snprintf(path, sizeof path, "/proc/self/task/%ld/status", syscall(SYS_gettid));
    FILE *file = fopen(path, "r");
    while (file && fgets(text, sizeof text, file))
        if (strncmp(text, field, sizeof field - 1) == 0)
            fprintf(out, " cpus=%s", strtok(text + sizeof field, " \t\n"));
    if (file)
        fclose(file);
}

static void add_policy(FILE *out)
{
    static const char *const names[] = { "default", "preferred", "bind", "interleave", "local" };
    unsigned long nodes[1024 / (8 * sizeof(unsigned long))] = { 0 };
    unsigned mode = 0;
    char separator = ':';

    if (syscall(SYS_get_mempolicy, &mode, nodes, 8 * sizeof nodes, NULL, 0) < 0)
        return;
    fprintf(out, " policy=%s", mode < 5 ? names[mode] : "other");
    for (int numa = 0; numa < MAX_NUMA; numa++)
        if (nodes[0] >> numa & 1) {
            fprintf(out, "%c%d", separator, numa);
            separator = ',';
        }
}

static unsigned own_numa(void)
{
    unsigned numa = 0;

    getcpu(NULL, &numa);
    return numa;
}

// New pages, all touched on one NUMA node, unless the thread is moved each time.
static char *touch_pages(size_t size, size_t page_bytes, unsigned *ran)
{
    char *buffer = NULL;
    unsigned before = 0;

    for (int try = 0; try < 100 && (try == 0 || *ran != before); try++) {
        if (buffer)
            munmap(buffer, size);
        buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (buffer == MAP_FAILED)
            exit(1);
        before = own_numa();
        for (size_t at = 0; at < size; at += page_bytes)
            buffer[at] = 1;
        *ran = own_numa();
    }
    return buffer;
}

static void add_pages(FILE *out)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    int count[MAX_NUMA] = { 0 }, numa;
    unsigned ran = 0;
    char *buffer = touch_pages(PAGES * page_bytes, page_bytes, &ran);
    const char *separator = "";

    for (size_t i = 0; i < PAGES; i++)
        if (syscall(SYS_get_mempolicy, &numa, NULL, 0, buffer + i * page_bytes,
                    GET_NODE | OF_ADDRESS) == 0 &&
            numa >= 0 && numa < MAX_NUMA)
            count[numa]++;
    fputs(" pages=", out);
    for (numa = 0; numa < MAX_NUMA; numa++)
        if (count[numa]) {
            fprintf(out, "%s%d:%d", separator, numa, count[numa]);
            separator = ",";
        }
    fprintf(out, " ran=%u", ran);
    munmap(buffer, PAGES * page_bytes);
}

// A whole line goes out in one write, so that the lines of many ranks never mix.
static void say(const char *who)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        exit(1);
    bool other = strtol(variable("SLURM_NODEID"), NULL, 10) > 0;
    fprintf(out, "step=%s%s%s rank=%s who=%s", variable("SLURM_STEP_ID"), other ? "." : "",
            other ? variable("SLURM_NODEID") : "", variable("SLURM_PROCID"), who);
    add_cpus(out);
    add_policy(out);
    add_pages(out);
    fprintf(out, " step_cpus=%s%s\n", step_cpus, alone ? " alone=1" : "");
    fclose(out);
    if (write(STDOUT_FILENO, text, size) != (ssize_t)size)
        exit(1);
    free(text);
}

// The cgroup of the task, or the nearest above it that has the file, says what the step is confined
// to: no limit is set for the task alone.
static void read_step_cpus(void)
{
    char path[PATH_MAX], line[PATH_MAX / 2] = "";
    FILE *file = fopen("/proc/self/cgroup", "r");

    while (file && fgets(line, sizeof line, file) && strncmp(line, "0::", 3) != 0)
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    for (char *end = strrchr(line, '/'); end; end = strrchr(line, '/')) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpuset.cpus.effective", line + 3);
        file = fopen(path, "r");
        if (file) {
            if (fgets(step_cpus, sizeof step_cpus, file))
                step_cpus[strcspn(step_cpus, "\n")] = '\0';
            fclose(file);
            return;
        }
        *end = '\0';
    }
}

static void meet_others(void)
{
    const char *directory = getenv("INSIDE_MEET");
    char path[PATH_MAX];
    glob_t found;

    if (!directory)
        return;
    snprintf(path, sizeof path, "%s/%s.%s", directory, variable("SLURM_STEP_ID"),
             variable("SLURM_PROCID"));
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    snprintf(path, sizeof path, "%s/*", directory);
    alone = 1;
    for (int try = 0; try < 300 && alone; try++) {
        if (glob(path, 0, NULL, &found) == 0) {
            alone = found.gl_pathc < strtoul(variable("INSIDE_RANKS"), NULL, 10);
            globfree(&found);
        }
        if (alone)
            usleep(200000);
    }
}

static void *other_thread(void *unused)
{
    say("pthread");
    return unused;
}

int main(void)
{
    int threads = omp_get_max_threads() < THREADS ? omp_get_max_threads() : THREADS;
    pthread_t thread;

    read_step_cpus();
    meet_others();
    say("main");
#pragma omp parallel num_threads(threads)
    {
        char who[32];
        snprintf(who, sizeof who, "omp%d", omp_get_thread_num());
#pragma omp critical
        say(who);
    }
    if (pthread_create(&thread, NULL, other_thread, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        say("child");
        _exit(0);
    }
    return child < 0 || waitpid(child, NULL, 0) != child;
}
