/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"

enum { FILES_MAX = 16 };

static struct {
    char *path, *bytes;
    size_t size;
} files[FILES_MAX];
static int count;
static bool active;

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
int __wrap_openat(int top, const char *path, int flags, ...);
int __real_openat(int top, const char *path, int flags, ...);
int __wrap_fstatat(int top, const char *path, struct stat *status, int flags);
int __real_fstatat(int top, const char *path, struct stat *status, int flags);
int __wrap_glob(const char *pattern, int flags, int (*fail)(const char *, int), glob_t *found);
int __real_glob(const char *pattern, int flags, int (*fail)(const char *, int), glob_t *found);
void __wrap_globfree(glob_t *found);
void __real_globfree(glob_t *found);

void files_open(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    while (in.size && count < FILES_MAX) {
        char *line = input_line(&in);
        bool head = !strncmp(line, "== ", 3);
        if (head) {
            const uint8_t *end = in.size ? memmem(in.data, in.size, "\n== ", 4) : NULL;
            size_t length = end ? (size_t)(end - in.data) + 1 : in.size;
            files[count].path = strdup(line + 3);
            files[count].bytes = input_block(&in, &length);
            files[count++].size = length;
        }
        free(line);
    }
    active = true;
}

void files_close(void)
{
    active = false;
    while (count) {
        count--;
        free(files[count].path);
        free(files[count].bytes);
    }
}

/* Returns the index of the file, or -1. A path below a directory may begin without the slash. */
static int find(const char *path)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(files[i].path + (*files[i].path == '/'), path + (*path == '/')))
            return i;
    errno = ENOENT;
    return -1;
}

/* Opens a directory that has an entry "24", if the input has a file at its path. */
static int open_directory(const char *path)
{
    char entries[PATH_MAX];
    if (find(path) < 0)
        return -1;
    input_file("entries/24", "", 0);
    snprintf(entries, sizeof(entries), "%s/entries", input_directory());
    return open(entries, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    if (!active)
        return __real_fopen(path, mode);
    int i = find(path);
    return i < 0 ? NULL : fmemopen(files[i].size ? files[i].bytes : "", files[i].size, "r");
}

int __wrap_openat(int top, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    unsigned mode = va_arg(arguments, unsigned);
    va_end(arguments);
    if (!active)
        return __real_openat(top, path, flags, mode);
    if (flags & O_DIRECTORY)
        return open_directory(path);
    int i = find(path), fd = i < 0 ? -1 : memfd_create("file", MFD_CLOEXEC);
    if (fd >= 0)
        INPUT_CHECK(pwrite(fd, files[i].bytes, files[i].size, 0) == (ssize_t)files[i].size);
    return fd;
}

int __wrap_fstatat(int top, const char *path, struct stat *status, int flags)
{
    if (!active)
        return __real_fstatat(top, path, status, flags);
    memset(status, 0, sizeof(*status));
    status->st_mode = S_IFREG | 0644;
    return find(path) < 0 ? -1 : 0;
}

int __wrap_glob(const char *pattern, int flags, int (*fail)(const char *, int), glob_t *found)
{
    if (!active)
        return __real_glob(pattern, flags, fail, found);
    *found = (glob_t){ .gl_pathv = calloc(FILES_MAX + 1, sizeof(char *)) };
    for (int i = 0; i < count; i++)
        if (!fnmatch(pattern, files[i].path, FNM_PATHNAME))
            found->gl_pathv[found->gl_pathc++] = strdup(files[i].path);
    if (found->gl_pathc)
        return 0;
    __wrap_globfree(found);
    return GLOB_NOMATCH;
}

void __wrap_globfree(glob_t *found)
{
    if (!active) {
        __real_globfree(found);
        return;
    }
    for (size_t i = 0; i < found->gl_pathc; i++)
        free(found->gl_pathv[i]);
    free(found->gl_pathv);
    found->gl_pathv = NULL;
    found->gl_pathc = 0;
}
