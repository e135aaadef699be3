#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_SIZE 16384
#define PATH_SIZE 4352

/* A whole small file of the kernel's, as a string. Bytes read, or -errno. */
static ssize_t read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t used = 0;
    ssize_t n;
    while ((n = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)n;
    int error = errno;
    close(fd);
    text[used] = '\0';
    return n < 0 ? -error : (ssize_t)used;
}

static int read_list(const char *path, hwloc_bitmap_t set)
{
    char text[TEXT_SIZE];
    ssize_t length = read_text(path, text, sizeof(text));
    if (length < 0)
        return (int)length;
    text[strcspn(text, "\n")] = '\0';
    if (hwloc_bitmap_list_sscanf(set, text) < 0)
        return -EINVAL;
    return hwloc_bitmap_iszero(set) ? -ENOENT : 0;
}

/* A group without a file or list of its own has its parent's. */
static int read_upwards(const char *root, const char *group, const char *file, hwloc_bitmap_t cpus)
{
    char path[PATH_SIZE];
    size_t length = strlen(group);
    for (;;) {
        while (length && group[length - 1] == '/')
            length--;
        int n = snprintf(path, sizeof(path), "%s%.*s/%s", root, (int)length, group, file);
        if (n < 0 || (size_t)n >= sizeof(path))
            return -ENAMETOOLONG;
        int rc = read_list(path, cpus);
        if (rc != -ENOENT || !length)
            return rc;
        while (length && group[length - 1] != '/')
            length--;
    }
}

/* The group in a line "ID:CONTROLLERS:GROUP" of /proc/PID/cgroup, where CONTROLLERS has `wanted`
 * ("" is how version 2 looks). NULL: none. Ends the line in `text`. */
static char *find_group(char *text, const char *wanted)
{
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(++controllers, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        bool found = !*wanted && !*controllers;
        char *save = NULL;
        for (char *name = strtok_r(controllers, ",", &save); name && *wanted;
             name = strtok_r(NULL, ",", &save))
            found = found || !strcmp(name, wanted);
        if (found)
            return group;
    }
    return NULL;
}

int kernel_cpus(pid_t pid, hwloc_bitmap_t cpus)
{
    char path[64], text[TEXT_SIZE], copy[TEXT_SIZE];
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    ssize_t length = read_text(path, text, sizeof(text));
    if (length < 0)
        return (int)length;
    memcpy(copy, text, (size_t)length + 1);
    const char *group = find_group(copy, "cpuset");
    if (group)
        return read_upwards("/sys/fs/cgroup/cpuset", group, "cpuset.cpus", cpus);
    group = find_group(text, "");
    if (!group)
        return -ENOENT;
    return read_upwards("/sys/fs/cgroup", group, "cpuset.cpus.effective", cpus);
}

int kernel_numas(pid_t pid, hwloc_bitmap_t numas)
{
    static const char field[] = "Mems_allowed_list:";
    char path[64], text[TEXT_SIZE];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    ssize_t length = read_text(path, text, sizeof(text));
    if (length < 0)
        return (int)length;
    char *value = strstr(text, field);
    if (!value)
        return -ENOENT;
    value += strlen(field);
    value += strspn(value, " \t");
    value[strcspn(value, "\n")] = '\0';
    return hwloc_bitmap_list_sscanf(numas, value) < 0 ? -EINVAL : 0;
}
