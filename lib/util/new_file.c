/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/secure_file.h"

/* Fails if there is something else than a regular file or a link, which is replaced. */
static int check(int directory, const char *name, int flags, const char *path,
                 struct nuioa_error *err)
{
    struct stat st;
    if (fstatat(directory, name, &st, flags) || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
        return 0;
    return nuioa_fail(err, -EPERM, "%s: not a regular file: it is not replaced", path);
}

/* Creates the temporary file. It does not ask for the umask, which the kernel applies: umask()
 * changes it for all threads. Returns a descriptor, or a negative number with errno. */
static int create(struct nuioa_new_file *file)
{
    int fd = -1;
    errno = EEXIST;
    for (unsigned tries = 0; fd < 0 && errno == EEXIST && tries < 100; tries++) {
        uint64_t number; /* it need not be secret: O_EXCL protects */
        if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
            number = (uint64_t)getpid() + tries;
        snprintf(file->temporary, sizeof(file->temporary), "%.200s.%016" PRIx64, file->name,
                 number);
        fd = openat(file->directory, file->temporary,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    return fd;
}

/* Removes what is there, and closes the directory. Returns -code. */
static int give_up(struct nuioa_new_file *file, int code, const char *path, struct nuioa_error *err)
{
    if (*file->temporary)
        unlinkat(file->directory, file->temporary, 0);
    close(file->directory);
    return nuioa_fail(err, -code, "%s: %s", path, strerror(code));
}

int nuioa_new_file_open_at(struct nuioa_new_file *file, int directory, const char *name,
                           const char *path, struct nuioa_error *err)
{
    *file = (struct nuioa_new_file){ .directory = directory };
    int rc = check(directory, name, AT_SYMLINK_NOFOLLOW, path, err);
    if (rc) {
        close(directory);
        return rc;
    }
    if (nuioa_copy(file->name, sizeof(file->name), name))
        return give_up(file, ENAMETOOLONG, path, err);
    int fd = create(file), code = errno;
    if (fd < 0) {
        *file->temporary = '\0';
    } else if (!(file->stream = fdopen(fd, "w"))) {
        code = errno;
        close(fd);
    }
    if (!file->stream)
        return give_up(file, code, path, err);
    errno = 0; /* what it is at the end says why writing failed */
    return 0;
}

int nuioa_new_file_open(struct nuioa_new_file *file, const char *path, struct nuioa_error *err)
{
    char name[NAME_MAX + 1];
    /* This one is for names such as /dev/stdout, whose link leads to no path. */
    int rc = check(AT_FDCWD, path, 0, path, err);
    if (rc)
        return rc;
    int directory = nuioa_secure_place(path, name, err);
    if (directory < 0 && directory != -EPERM)
        return nuioa_fail(err, directory, "%s: %s", path, strerror(-directory));
    return directory < 0 ? directory : nuioa_new_file_open_at(file, directory, name, path, err);
}

int nuioa_new_file_close(struct nuioa_new_file *file, bool keep, const char *path,
                         struct nuioa_error *err)
{
    int code = fflush(file->stream) || ferror(file->stream) ? (errno ? errno : EIO) : 0;
    if (fclose(file->stream) && !code)
        code = errno;
    if (keep && !code && renameat(file->directory, file->temporary, file->directory, file->name))
        code = errno;
    if (keep && code)
        return give_up(file, code, path, err);
    if (!keep)
        unlinkat(file->directory, file->temporary, 0);
    close(file->directory);
    return 0;
}
