#include "secure.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool trusted_owner(const struct stat *st)
{
    return st->st_uid == 0 || st->st_uid == geteuid();
}

static int check_one(const char *directory, struct nuioa_error *err)
{
    struct stat st;
    if (lstat(directory, &st))
        return nuioa_fail(err, -errno, "%s: %s", directory, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return nuioa_fail(err, -EPERM, "%s: not a directory", directory);
    if (!trusted_owner(&st))
        return nuioa_fail(err, -EPERM, "%s: owned by uid %lu, root is expected", directory,
                          (unsigned long)st.st_uid);
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) && !(st.st_mode & S_ISVTX))
        return nuioa_fail(err, -EPERM, "%s: others may write to it (mode %03o)", directory,
                          (unsigned)st.st_mode & 07777);
    return 0;
}

int nuioa_secure_directory(const char *directory, struct nuioa_error *err)
{
    char path[PATH_MAX];
    if (!realpath(directory, path))
        return nuioa_fail(err, -errno, "%s: %s", directory, strerror(errno));
    for (;;) {
        int rc = check_one(path, err);
        char *slash = strrchr(path, '/');
        if (rc || !slash[1])
            return rc;
        slash[slash == path] = '\0';
    }
}

static int check_parent(const char *path, struct nuioa_error *err)
{
    char parent[PATH_MAX];
    if (nuioa_copy(parent, sizeof(parent), path))
        return nuioa_fail(err, -ENAMETOOLONG, "%.200s: name too long", path);
    char *slash = strrchr(parent, '/');
    if (slash)
        slash[slash == parent] = '\0';
    return nuioa_secure_directory(slash ? parent : ".", err);
}

int nuioa_secure_open(const char *path, struct nuioa_error *err)
{
    struct stat st;
    /* the directories first: in one that is not secure not even a device should be opened */
    int rc = check_parent(path, err);
    if (rc)
        return rc;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return nuioa_fail(err, errno == ELOOP ? -EPERM : -errno, "%s: %s", path,
                          errno == ELOOP ? "a symbolic link" : strerror(errno));
    if (fstat(fd, &st))
        rc = nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        rc = nuioa_fail(err, -EPERM, "%s: not a regular file", path);
    else if (!trusted_owner(&st))
        rc = nuioa_fail(err, -EPERM, "%s: owned by uid %lu, root is expected", path,
                        (unsigned long)st.st_uid);
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        rc = nuioa_fail(err, -EPERM, "%s: others may write to it (mode %03o)", path,
                        (unsigned)st.st_mode & 07777);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}
