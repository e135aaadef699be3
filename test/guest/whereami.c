/* SPDX-License-Identifier: BSD-3-Clause */
// Prints, in one line, where this process and its memory are: the CPUs and memory nodes that the
// kernel allows, the NUMA nodes of those CPUs, the memory policy, and on which NUMA nodes the
// touched pages of a buffer lie (asked of move_pages, which moves nothing without a target).
//
//   whereami [--env] [MEGABYTES]       64 by default; --env adds the variables of nuioa, and those
//                                      that choose GPUs
//
// Where there are GPUs it also prints the PCI addresses of those that it may open.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_NUMA 64

extern char **environ;

// A whole line goes out in one write, so that the lines of many ranks never mix.
struct line {
    char text[4096];
    size_t length;
};

static void add(struct line *line, const char *name, const char *value)
{
    size_t room = sizeof line->text - line->length;
    int n = snprintf(line->text + line->length, room, "%s%s=%s", line->length ? " " : "", name,
                     value ? value : "");

    if (n > 0 && (size_t)n < room)
        line->length += (size_t)n;
}

static void add_status(struct line *line, const char *name, const char *field)
{
    char text[1024];
    size_t length = strlen(field);
    FILE *file = fopen("/proc/self/status", "r");

    while (file && fgets(text, sizeof text, file)) {
        if (strncmp(text, field, length) == 0 && text[length] == ':') {
            text[strcspn(text, "\n")] = '\0';
            add(line, name, text + length + 1 + strspn(text + length + 1, " \t"));
            break;
        }
    }
    if (file)
        fclose(file);
}

static int numa_of_cpu(int cpu)
{
    char path[64];
    int numa = -1;
    struct dirent *entry;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
    DIR *dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        if (sscanf(entry->d_name, "node%d", &numa) == 1)
            break;
    if (dir)
        closedir(dir);
    return numa;
}

static void add_numa(struct line *line)
{
    cpu_set_t set;
    int seen[MAX_NUMA] = { 0 };
    char text[256] = "";
    size_t length = 0;

    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return;
    for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
        int numa = CPU_ISSET(cpu, &set) ? numa_of_cpu(cpu) : -1;
        if (numa >= 0 && numa < MAX_NUMA)
            seen[numa] = 1;
    }
    for (int numa = 0; numa < MAX_NUMA; numa++)
        if (seen[numa])
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d",
                                       length ? "," : "", numa);
    add(line, "numa", text);
}

static void add_policy(struct line *line)
{
    static const char *const names[] = { "default", "preferred", "bind", "interleave", "local" };
    unsigned long nodes[1024 / (8 * sizeof(unsigned long))] = { 0 };
    unsigned mode = 0;
    char text[256];

    if (syscall(SYS_get_mempolicy, &mode, nodes, 8 * sizeof nodes, NULL, 0) < 0)
        return;
    int length = snprintf(text, sizeof text, "%s", mode < 5 ? names[mode] : "other");
    for (int numa = 0, first = 1; numa < MAX_NUMA; numa++)
        if (nodes[0] >> numa & 1) {
            length += snprintf(text + length, sizeof text - (size_t)length, "%c%d",
                               first ? ':' : ',', numa);
            first = 0;
        }
    add(line, "policy", text);
}

static void add_pages(struct line *line, size_t bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = bytes / page_bytes;
    size_t count[MAX_NUMA] = { 0 }, elsewhere = 0, length = 0;
    void **address = malloc(pages * sizeof *address);
    int *status = malloc(pages * sizeof *status);
    char *buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char text[512] = "";

    if (!address || !status || buffer == MAP_FAILED)
        exit(1);
    for (size_t i = 0; i < pages; i++) {
        address[i] = buffer + i * page_bytes;
        buffer[i * page_bytes] = 1;
    }
    // To Linux 6.1 a page is absent while automatic NUMA balancing samples it: touch it again.
    for (int try = 0, absent = 1; try < 50 && absent; try++) {
        absent = 0;
        if (syscall(SYS_move_pages, 0, pages, address, NULL, status, 0) < 0)
            exit(1);
        for (size_t i = 0; i < pages; i++) {
            if (status[i] == -EFAULT || status[i] == -ENOENT) {
                buffer[i * page_bytes]++;
                absent = 1;
            }
        }
    }
    for (size_t i = 0; i < pages; i++) {
        if (status[i] >= 0 && status[i] < MAX_NUMA)
            count[status[i]]++;
        else
            elsewhere++;
    }
    for (int numa = 0; numa < MAX_NUMA; numa++)
        if (count[numa])
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d:%zu",
                                       length ? "," : "", numa, count[numa]);
    if (elsewhere)
        snprintf(text + length, sizeof text - length, ",?:%zu", elsewhere);
    add(line, "pages", text);
}

static void add_gpus(struct line *line)
{
    glob_t files;
    char text[1024] = "", path[64], device[PATH_MAX];
    size_t length = 0;

    if (glob("/dev/dri/renderD*", 0, NULL, &files) != 0)
        return;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *name = basename(files.gl_pathv[i]);
        snprintf(path, sizeof path, "/sys/class/drm/%.32s/device", name);
        if (faccessat(AT_FDCWD, files.gl_pathv[i], R_OK | W_OK, AT_EACCESS) == 0 &&
            realpath(path, device) && length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       length ? "," : "", basename(device));
    }
    globfree(&files);
    add(line, "gpus", text);
}

static int is_wanted(const char *variable)
{
    static const char *const names[] = { "NUIOA_",
                                         "CUDA_VISIBLE_DEVICES=",
                                         "ROCR_VISIBLE_DEVICES=",
                                         "ZE_AFFINITY_MASK=",
                                         "GPU_DEVICE_ORDINAL=",
                                         "UCX_" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return 1;
    return 0;
}

// Slurm's variable comes last: other launchers inherit it from the step in which they run.
static const char *rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return getenv(names[i]);
    return getenv("SLURM_PROCID");
}

int main(int argc, char **argv)
{
    struct line line = { .length = 0 };
    int with_env = argc > 1 && strcmp(argv[1], "--env") == 0;
    long megabytes = argc > 1 + with_env ? atol(argv[1 + with_env]) : 64;

    add(&line, "rank", rank());
    add(&line, "local", getenv("SLURM_LOCALID"));
    add_status(&line, "cpus", "Cpus_allowed_list");
    add_status(&line, "mems", "Mems_allowed_list");
    add_numa(&line);
    add_policy(&line);
    add_pages(&line, (size_t)megabytes << 20);
    add_gpus(&line);
    for (char **entry = environ; with_env && *entry; entry++) {
        if (is_wanted(*entry)) {
            *strchr(*entry, '=') = '\0';
            add(&line, *entry, *entry + strlen(*entry) + 1);
        }
    }
    line.text[line.length++] = '\n';
    return write(STDOUT_FILENO, line.text, line.length) == (ssize_t)line.length ? 0 : 1;
}
