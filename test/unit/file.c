/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

const char *file_of_sources(const char *name)
{
    static char path[512];
    const char *srcdir = getenv("srcdir");
    snprintf(path, sizeof(path), "%s/%s", srcdir ? srcdir : ".", name);
    return path;
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    return file;
}

char *file_text(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = open_file(path, "re");
    assert_true(getdelim(&text, &room, '\0', file) >= 0);
    fclose(file);
    unit_later(free, text);
    return text;
}

static void remove_file(void *path)
{
    unlink(path);
    free(path);
}

const char *file_new(const void *bytes, size_t length)
{
    char *path = strdup("/tmp/nuioa-unit-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unit_later(remove_file, path);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
    return path;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path);
}

static void remove_directory(void *path)
{
    chmod(path, 0700);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

const char *file_directory(void)
{
    char *path = strdup("/tmp/nuioa-unit-XXXXXX");
    assert_non_null(mkdtemp(path));
    unit_later(remove_directory, path);
    return path;
}

void file_write(const char *path, const char *text)
{
    FILE *file = open_file(path, "we");
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}
