/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/secure_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel follows as many symbolic links in one path (path_resolution(7)). */
#define LINKS_MAX 40

/* A walk down a path from the root directory, one name after the other, each opened with
 * O_NOFOLLOW: if somebody exchanges a directory for a link meanwhile, the kernel does not follow
 * it. */
struct walk {
    int fd;              /* the directory that was reached, O_PATH */
    char at[PATH_MAX];   /* its path, with no '/' at the end */
    char path[PATH_MAX]; /* the path that is followed */
    size_t next;         /* where in `path` the rest of it begins */
    bool shared;         /* others may create files in it (sticky), but not replace ours */
    bool writing;        /* a file is to be written: only links must be trusted, and only by root */
    unsigned links;
};

static bool trusted_owner(const struct stat *st)
{
    return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Checks who can change a file, or what is in a directory. */
static int check(const char *path, const struct stat *st, struct nuioa_error *err)
{
    bool sticky = S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX;
    if (!trusted_owner(st))
        return nuioa_fail(err, -EPERM, "%s: owned by uid %lu, root is expected", path,
                          (unsigned long)st->st_uid);
    if (st->st_mode & (S_IWGRP | S_IWOTH) && !sticky)
        return nuioa_fail(err, -EPERM, "%s: others may write to it (mode %03o)", path,
                          (unsigned)st->st_mode & 07777);
    return 0;
}

static int too_long(const struct walk *w, struct nuioa_error *err)
{
    return nuioa_fail(err, -ENAMETOOLONG, "%.200s/%.200s: name too long", w->at, w->path + w->next);
}

/* Makes the directory `fd` the current one of the walk, which then owns the descriptor. */
static int enter(struct walk *w, int fd, const struct stat *st, struct nuioa_error *err)
{
    const char *name = *w->at ? w->at : "/";
    close(w->fd);
    w->fd = fd;
    w->shared = st->st_mode & (S_IWGRP | S_IWOTH) || !trusted_owner(st);
    if (!S_ISDIR(st->st_mode))
        return nuioa_fail(err, -ENOTDIR, "%s: not a directory", name);
    return w->writing ? 0 : check(name, st, err);
}

/* Begins at "/" or ".". */
static int begin_at(struct walk *w, const char *start, struct nuioa_error *err)
{
    struct stat st;
    int fd = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);
    nuioa_copy(w->at, sizeof(w->at), *start == '/' ? "" : start);
    if (fd >= 0 && !fstat(fd, &st))
        return enter(w, fd, &st, err);
    int rc = nuioa_fail(err, -errno, "%s: %s", start, strerror(errno));
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Continues at the target of a symbolic link, if only root and the caller can have made it and can
 * replace it. */
static int follow(struct walk *w, int link, const char *name, const struct stat *st,
                  struct nuioa_error *err)
{
    char rest[PATH_MAX], target[PATH_MAX];
    if ((!w->writing || !geteuid()) && (w->shared || !trusted_owner(st)))
        return nuioa_fail(err, -EPERM, "%.200s/%s: a symbolic link that others may have made",
                          w->at, name);
    if (++w->links > LINKS_MAX)
        return nuioa_fail(err, -ELOOP, "%.200s/%s: more than %d symbolic links", w->at, name,
                          LINKS_MAX);
    ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);
    if (length < 0)
        return nuioa_fail(err, -errno, "%.200s/%s: %s", w->at, name, strerror(errno));
    target[length] = '\0';
    if ((size_t)snprintf(rest, sizeof(rest), "%s/%s", target, w->path + w->next) >= sizeof(rest))
        return too_long(w, err);
    memcpy(w->path, rest, sizeof(rest));
    w->next = 0;
    return *target == '/' ? begin_at(w, "/", err) : 0;
}

/* Goes on to the next name, a directory. The last name of a file that is written is only followed
 * if it is a link: returns 1 if it is none. */
static int step(struct walk *w, const char *name, struct nuioa_error *err)
{
    struct stat st;
    size_t used = strlen(w->at);
    bool last = w->writing && !w->path[w->next + strspn(w->path + w->next, "/")];
    int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, rc = 1;
    /* Only a request for a directory makes the kernel mount one on demand (automount). */
    int fd = openat(w->fd, name, last ? flags : flags | O_DIRECTORY);
    if (fd < 0 && errno == ENOTDIR)
        fd = openat(w->fd, name, flags);
    if (fd < 0 && errno == ENOENT && last)
        return 1;
    if (fd < 0 || fstat(fd, &st))
        rc = nuioa_fail(err, -errno, "%.200s/%s: %s", w->at, name, strerror(errno));
    else if (S_ISLNK(st.st_mode))
        rc = follow(w, fd, name, &st, err);
    else if (!last && used + strlen(name) + 2 > sizeof(w->at))
        rc = too_long(w, err);
    else if (!last) {
        snprintf(w->at + used, sizeof(w->at) - used, "/%s", name);
        return enter(w, fd, &st, err);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Takes the next name off the rest of the path: "a//b/c" becomes "a" and "/b/c". Returns false at
 * the end. */
static bool next_name(struct walk *w, char *name, size_t size)
{
    w->next += strspn(w->path + w->next, "/");
    size_t length = strcspn(w->path + w->next, "/");
    if (!length)
        return false;
    /* A name that is too long is cut to one that the kernel still refuses. */
    snprintf(name, size, "%.*s", (int)length, w->path + w->next);
    w->next += length;
    return true;
}

/* Returns a descriptor (O_PATH) of the directory, or -errno. */
static int walk(const char *directory, struct nuioa_error *err)
{
    struct walk w = { .fd = -1 };
    char name[NAME_MAX + 2], here[PATH_MAX] = "";
    if (*directory != '/' && !getcwd(here, sizeof(here)))
        return nuioa_fail(err, -errno, "%.200s: %s", directory, strerror(errno));
    if ((size_t)snprintf(w.path, sizeof(w.path), "%s/%s", here, directory) >= sizeof(w.path))
        return too_long(&w, err);
    int rc = begin_at(&w, "/", err);
    while (!rc && next_name(&w, name, sizeof(name)))
        rc = step(&w, name, err);
    if (!rc)
        return w.fd;
    if (w.fd >= 0)
        close(w.fd);
    return rc;
}

int nuioa_secure_parent(const char *path, const char **name, struct nuioa_error *err)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof(parent))
        return nuioa_fail(err, -ENAMETOOLONG, "%.200s: name too long", path);
    memcpy(parent, path, length);
    parent[length] = '\0';
    *name = path[length] ? path + length : ".";
    return walk(parent, err);
}

int nuioa_secure_open(const char *path, struct nuioa_error *err)
{
    struct stat st;
    const char *name;
    /* The directories come first: even opening a device can have effects. */
    int parent = nuioa_secure_parent(path, &name, err), rc;
    if (parent < 0)
        return parent;
    int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    rc = fd < 0 ? -errno : 0;
    close(parent);
    if (fd < 0)
        return nuioa_fail(err, rc == -ELOOP ? -EPERM : rc, "%s: %s", path,
                          rc == -ELOOP ? "a symbolic link; a regular file is expected"
                                       : strerror(-rc));
    if (fstat(fd, &st))
        rc = nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        rc = nuioa_fail(err, -EPERM, "%s: not a regular file", path);
    else
        rc = check(path, &st, err);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

/* --- files that are written ------------------------------------------------------------------- */

int nuioa_secure_place(const char *path, char name[NAME_MAX + 1], struct nuioa_error *err)
{
    struct walk w = { .fd = -1, .writing = true };
    char next[NAME_MAX + 2] = "";
    if (nuioa_copy(w.path, sizeof(w.path), path))
        return nuioa_fail(err, -ENAMETOOLONG, "%.200s: name too long", path);
    int rc = begin_at(&w, *path == '/' ? "/" : ".", err);
    while (!rc && next_name(&w, next, sizeof(next)))
        rc = step(&w, next, err);
    if (rc == 0) /* no name is left: it is a directory */
        rc = nuioa_fail(err, -EISDIR, "%.200s: %s", path, strerror(EISDIR));
    if (rc == 1 && !nuioa_copy(name, NAME_MAX + 1, next))
        return w.fd;
    if (w.fd >= 0)
        close(w.fd);
    return rc < 0 ? rc : nuioa_fail(err, -ENAMETOOLONG, "%.200s: name too long", path);
}
