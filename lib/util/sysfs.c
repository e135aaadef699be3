/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/descriptors.h"

static int open_class(const char *root, const char *name)
{
    char path[PATH_MAX];
    int length = root ? snprintf(path, sizeof(path), "%s/%s", root, name) : -1;
    if (length < 0 || (size_t)length >= sizeof(path))
        return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void nuioa_sysfs_open(struct nuioa_sysfs *sysfs, const char *root)
{
    sysfs->verbs = open_class(root, "sys/class/infiniband");
    sysfs->net = open_class(root, "sys/class/net");
    sysfs->pci = open_class(root, "sys/bus/pci/devices");
    sysfs->drm = open_class(root, "sys/class/drm");
    sysfs->numa = open_class(root, "sys/devices/system/node");
}

void nuioa_sysfs_close(struct nuioa_sysfs *sysfs)
{
    int *all[] = { &sysfs->verbs, &sysfs->net, &sysfs->pci, &sysfs->drm, &sysfs->numa };
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
}

static int make_path(char *path, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(path, size, format, args);
    return length > 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}

static int read_text(int dir, const char *path, char *text, size_t size)
{
    text[0] = '\0';
    if (dir < 0 && dir != AT_FDCWD)
        return -ENOENT;
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    ssize_t got;
    do
        got = read(fd, text, size - 1);
    while (got < 0 && errno == EINTR);
    int failed = got < 0 ? -errno : 0;
    close(fd);
    text[got < 0 ? 0 : got] = '\0';
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return failed ? failed : (int)length;
}

int nuioa_sysfs_text(int dir, char *text, size_t size, const char *path, ...)
{
    char full[256];
    va_list args;
    va_start(args, path);
    int rc = make_path(full, sizeof(full), path, args);
    va_end(args);
    text[0] = '\0';
    return rc ? rc : read_text(dir, full, text, size);
}

char *nuioa_sysfs_lines(int dir, size_t max, const char *path, ...)
{
    char full[256];
    va_list args;
    va_start(args, path);
    int rc = make_path(full, sizeof(full), path, args);
    va_end(args);
    int fd = rc ? -1 : openat(dir, full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = fd < 0 ? NULL : malloc(max + 1);
    if (text) {
        size_t length = nuioa_read_all(fd, text, max);
        if (length == max)
            while (length && text[length - 1] != '\n')
                length--;
        text[length] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return text;
}

int nuioa_sysfs_number(int dir, long *value, const char *path, ...)
{
    char full[256], text[32], *end;
    va_list args;
    va_start(args, path);
    int rc = make_path(full, sizeof(full), path, args);
    va_end(args);
    if (rc || (rc = read_text(dir, full, text, sizeof(text))) < 0)
        return rc;
    errno = 0;
    long number = strtol(text, &end, 0);
    if (end == text || *end || errno)
        return -EINVAL;
    *value = number;
    return 0;
}

bool nuioa_sysfs_exists(int dir, const char *path, ...)
{
    char full[256];
    va_list args;
    va_start(args, path);
    int rc = make_path(full, sizeof(full), path, args);
    va_end(args);
    /* A dump may hold the link but not what it points to. */
    return !rc && dir >= 0 && !faccessat(dir, full, F_OK, AT_SYMLINK_NOFOLLOW);
}

int nuioa_sysfs_link(int dir, char *target, size_t size, const char *name)
{
    target[0] = '\0';
    if (dir < 0)
        return -ENOENT;
    ssize_t length = readlinkat(dir, name, target, size);
    if (length < 0)
        length = -errno;
    else if ((size_t)length >= size)
        length = -ENAMETOOLONG;
    target[length < 0 ? 0 : length] = '\0';
    return length < 0 ? (int)length : 0;
}

DIR *nuioa_sysfs_list(int dir, const char *path)
{
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !list)
        close(fd);
    return list;
}
