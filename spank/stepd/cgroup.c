/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/word.h"

/* slurmstepd has just forked the tasks, so the kernel copies each page that is written here
 * (copy-on-write). Therefore texts are on the heap, in their own length, and not in large buffers
 * on the stack. */

/* Reads a whole file of the kernel's, which holds no NUL. 0 and *text (malloc'd, caller frees), or
 * -errno. */
static int __attribute__((format(printf, 2, 3))) read_text(char **text, const char *path, ...)
{
    char *name;
    size_t size = 0;
    va_list args;
    va_start(args, path);
    int length = vasprintf(&name, path, args);
    va_end(args);
    *text = NULL;
    if (length < 0)
        return -ENOMEM;
    FILE *file = fopen(name, "re");
    int rc = file ? 0 : -errno;
    free(name);
    if (file && getdelim(text, &size, '\0', file) < 0)
        rc = ferror(file) ? -EIO : -ENOENT;
    if (file)
        fclose(file);
    if (rc < 0) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

/* Reads the list in the first line. Returns 0; or -EINVAL, or -ENOENT if it is empty. */
static int read_list(char *text, hwloc_bitmap_t set)
{
    text[strcspn(text, "\n")] = '\0';
    if (hwloc_bitmap_list_sscanf(set, text) < 0)
        return -EINVAL;
    return hwloc_bitmap_iszero(set) ? -ENOENT : 0;
}

/* The kernel writes the name, which begins with "/.." if the cgroup is outside of this process' own
 * part of the tree. */
static bool is_below_root(const char *group)
{
    return *group == '/' && !strstr(group, "/..");
}

/* Reads the list of a cgroup; a cgroup without the file, or with an empty list, has its
 * parent's. */
static int read_upwards(const char *root, char *group, const char *file, hwloc_bitmap_t cpus)
{
    char *text, *slash;
    if (!is_below_root(group))
        return -EINVAL;
    for (;;) {
        int rc = read_text(&text, "%s%s/%s", root, group, file);
        if (!rc)
            rc = read_list(text, cpus);
        free(text);
        if (rc != -ENOENT || !(slash = strrchr(group, '/')))
            return rc;
        *slash = '\0';
    }
}

/* A process' cgroup of version 1 that has its cpuset, and that of version 2; NULL: none. Both are
 * parts of `text`, which the caller frees. */
struct groups {
    char *text, *cpuset, *second;
};

/* Reads the lines "ID:CONTROLLERS:GROUP" of /proc/PID/cgroup; that of version 2 has no controllers.
 * 0 or -errno, and no text. */
static int read_groups(pid_t pid, struct groups *g)
{
    *g = (struct groups){ 0 };
    int rc = read_text(&g->text, "/proc/%d/cgroup", (int)pid);
    char *rest = g->text, *line, *word;
    while (!rc && (line = nuioa_next_word(&rest, "\n"))) {
        strsep(&line, ":");
        char *controllers = strsep(&line, ":");
        if (line && !*controllers)
            g->second = line;
        while (line && (word = nuioa_next_word(&controllers, ",")))
            if (!strcmp(word, "cpuset"))
                g->cpuset = line;
    }
    return rc;
}

int cgroup_cpus(pid_t pid, hwloc_bitmap_t cpus)
{
    struct groups g;
    int rc = read_groups(pid, &g);
    if (g.cpuset)
        rc = read_upwards("/sys/fs/cgroup/cpuset", g.cpuset, "cpuset.cpus", cpus);
    else if (g.second)
        rc = read_upwards("/sys/fs/cgroup", g.second, "cpuset.cpus.effective", cpus);
    else if (!rc)
        rc = -ENOENT;
    free(g.text);
    return rc;
}

int cgroup_numas(pid_t pid, hwloc_bitmap_t numas)
{
    static const char field[] = "Mems_allowed_list:";
    char *text, *value;
    int rc = read_text(&text, "/proc/%d/status", (int)pid);
    if (!rc) {
        value = strstr(text, field);
        rc = value ? read_list(value + strlen(field) + strspn(value + strlen(field), " \t"), numas)
                   : -ENOENT;
    }
    free(text);
    return rc;
}

/* Returns 0 if the process is in a cgroup of version 2, or negative as cgroup_open(). */
static int read_second(pid_t pid, struct groups *g)
{
    int rc = read_groups(pid, g);
    if (!rc)
        rc = !g->second ? -ENOENT : is_below_root(g->second) ? 0 : -EINVAL;
    return rc;
}

int cgroup_open(pid_t pid)
{
    struct groups g;
    char *directory = NULL;
    int rc = read_second(pid, &g);
    if (!rc && asprintf(&directory, "/sys/fs/cgroup%s", g.second) < 0)
        rc = -ENOMEM;
    else if (!rc && (rc = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        rc = -errno;
    free(directory);
    free(g.text);
    return rc;
}

/* Cuts the last part of a name off. Returns false if it does not begin with `part`. */
static bool cut(char *group, const char *part)
{
    char *slash = strrchr(group, '/');
    bool found = slash && !strncmp(slash + 1, part, strlen(part));
    if (found)
        *slash = '\0';
    return found;
}

void cgroup_leave_step(pid_t pid)
{
    struct groups g;
    char *path;
    if (!read_second(pid, &g) && cut(g.second, "slurm") && cut(g.second, "step_") &&
        cut(g.second, "") &&
        asprintf(&path, "/sys/fs/cgroup%s/system/cgroup.procs", g.second) >= 0) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd >= 0) {
            dprintf(fd, "%d", (int)pid); /* it is no harm if it stays */
            close(fd);
        }
        free(path);
    }
    free(g.text);
}
