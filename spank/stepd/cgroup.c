/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* slurmstepd has just forked the tasks, so the kernel copies each page that is written here
 * (copy-on-write). Therefore texts are on the heap, in their own length, and not in large buffers
 * on the stack. */

/* Reads a whole file of the kernel's, which holds no NUL. 0 and *text (malloc'd, caller frees), or
 * -errno. */
static int read_text(const char *path, char **text)
{
    size_t size = 0;
    *text = NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return -errno;
    ssize_t length = getdelim(text, &size, '\0', file);
    int rc = length >= 0 ? 0 : ferror(file) ? -EIO : -ENOENT;
    fclose(file);
    if (rc < 0) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

static int read_list(const char *path, hwloc_bitmap_t set)
{
    char *text;
    int rc = read_text(path, &text);
    if (rc < 0)
        return rc;
    /* There is a text whenever read_text succeeds.
     * NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
    text[strcspn(text, "\n")] = '\0';
    if (hwloc_bitmap_list_sscanf(set, text) < 0)
        rc = -EINVAL;
    else if (hwloc_bitmap_iszero(set))
        rc = -ENOENT;
    free(text);
    return rc;
}

/* The kernel writes the name, which begins with "/.." if the cgroup is outside of this process' own
 * part of the tree. */
static bool is_below_root(const char *group)
{
    return *group == '/' && !strstr(group, "/..");
}

/* Reads the list of a cgroup; a cgroup without the file, or with an empty list, has its
 * parent's. */
static int read_upwards(const char *root, const char *group, const char *file, hwloc_bitmap_t cpus)
{
    size_t length = strlen(group);
    if (!is_below_root(group))
        return -EINVAL;
    for (;;) {
        char *path;
        while (length && group[length - 1] == '/')
            length--;
        if (asprintf(&path, "%s%.*s/%s", root, (int)length, group, file) < 0)
            return -ENOMEM;
        int rc = read_list(path, cpus);
        free(path);
        if (rc != -ENOENT || !length)
            return rc;
        while (length && group[length - 1] != '/')
            length--;
    }
}

static bool has_word(const char *list, size_t length, const char *word)
{
    for (const char *end = list + length, *next; list < end; list = next + 1) {
        next = memchr(list, ',', (size_t)(end - list));
        next = next ? next : end;
        if ((size_t)(next - list) == strlen(word) && !memcmp(list, word, strlen(word)))
            return true;
    }
    return false;
}

/* Finds the line "ID:CONTROLLERS:GROUP" of /proc/PID/cgroup whose CONTROLLERS have `wanted`; ""
 * finds the line of version 2. Returns its GROUP (malloc'd, caller frees); NULL: none. */
static char *find_group(const char *text, const char *wanted)
{
    /* -Wanalyzer-null-dereference: the caller has a text.
     * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *controllers = strchr(line, ':');
        const char *group = controllers ? strchr(++controllers, ':') : NULL;
        /* -Wanalyzer-null-argument: the caller has a text. */
        size_t length = strcspn(line, "\n");
        if (!group || group > line + length)
            continue;
        size_t width = (size_t)(group++ - controllers);
        if (*wanted ? has_word(controllers, width, wanted) : !width)
            return strndup(group, (size_t)(line + length - group));
    }
    return NULL;
}

int cgroup_cpus(pid_t pid, hwloc_bitmap_t cpus)
{
    char path[64], *text;
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    int rc = read_text(path, &text);
    if (rc < 0)
        return rc;
    char *first = find_group(text, "cpuset"), *second = first ? NULL : find_group(text, "");
    if (first)
        rc = read_upwards("/sys/fs/cgroup/cpuset", first, "cpuset.cpus", cpus);
    else if (second)
        rc = read_upwards("/sys/fs/cgroup", second, "cpuset.cpus.effective", cpus);
    else
        rc = -ENOENT;
    free(first);
    free(second);
    free(text);
    return rc;
}

int cgroup_numas(pid_t pid, hwloc_bitmap_t numas)
{
    static const char field[] = "Mems_allowed_list:";
    char path[64], *text;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    int rc = read_text(path, &text);
    if (rc < 0)
        return rc;
    /* -Wanalyzer-null-argument: read_text succeeds with a text only.
     * NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
    char *value = strstr(text, field);
    if (value) {
        value += strlen(field);
        value += strspn(value, " \t");
        value[strcspn(value, "\n")] = '\0';
    }
    rc = !value ? -ENOENT : hwloc_bitmap_list_sscanf(numas, value) < 0 ? -EINVAL : 0;
    free(text);
    return rc;
}

/* Reads the name of the cgroup (version 2) of a process. 0 and *group (malloc'd, caller frees), or
 * negative as cgroup_open(). */
static int read_group(pid_t pid, char **group)
{
    char path[64], *text;
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    int rc = read_text(path, &text);
    if (rc < 0)
        return rc;
    *group = find_group(text, "");
    free(text);
    rc = !*group ? -ENOENT : is_below_root(*group) ? 0 : -EINVAL;
    if (rc < 0)
        free(*group);
    return rc;
}

int cgroup_open(pid_t pid)
{
    char *group, *directory = NULL;
    int rc = read_group(pid, &group);
    if (rc < 0)
        return rc;
    if (asprintf(&directory, "/sys/fs/cgroup%s", group) < 0)
        rc = -ENOMEM;
    else if ((rc = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        rc = -errno;
    free(directory);
    free(group);
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
    char *group, *path;
    if (read_group(pid, &group) < 0)
        return;
    if (cut(group, "slurm") && cut(group, "step_") && cut(group, "") &&
        asprintf(&path, "/sys/fs/cgroup%s/system/cgroup.procs", group) >= 0) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd >= 0) {
            dprintf(fd, "%d", (int)pid); /* it is no harm if it stays */
            close(fd);
        }
        free(path);
    }
    free(group);
}
