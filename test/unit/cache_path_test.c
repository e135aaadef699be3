/* SPDX-License-Identifier: BSD-3-Clause */

/* Where a cache is: the name of the host, paths that are no place for one, and calls that fail. */

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"
#include "leak_check.h"
#include "machine.h"
#include "private_run.h"
#include "topology/cache.h"
#include "unit.h"

/* These functions replace those of the C library. */

static const char *host_name = "n1";

int gethostname(char *name, size_t size)
{
    snprintf(name, size, "%s", host_name);
    return 0;
}

static bool broken;      /* every read fails */
static int signals = -1; /* that interrupt the next reads; each later one reads 100 bytes at most */

static ssize_t read_some(int fd, void *bytes, size_t size)
{
    if (broken) {
        errno = EIO;
        return -1;
    }
    if (signals < 0)
        return syscall(SYS_read, fd, bytes, size);
    if (!signals)
        return syscall(SYS_read, fd, bytes, size < 100 ? size : 100);
    signals--;
    errno = EINTR;
    return -1;
}

ssize_t read(int fd, void *bytes, size_t size)
{
    return read_some(fd, bytes, size);
}

/* With _FORTIFY_SOURCE the compiler calls this one. */
ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);
ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room)
{
    assert_true(size <= room);
    return read_some(fd, bytes, size);
}

static bool no_mode; /* some file systems have none */

int fchmod(int fd, mode_t mode)
{
    errno = EPERM;
    return no_mode ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

static int stats = -1; /* calls before the one that fails */

int fstat(int fd, struct stat *st)
{
    if (stats < 0 || stats--)
        return fstatat(fd, "", st, AT_EMPTY_PATH);
    errno = ESTALE;
    return -1;
}

static bool disk_full; /* which a remote file system says when a file is closed */

int fclose(FILE *file)
{
    int (*real)(FILE *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "fclose");
    int rc = real(file);
    if (!disk_full)
        return rc;
    errno = ENOSPC;
    return EOF;
}

/* A name with a slash could leave the directory of caches. */
TEST(test_host_names)
{
    static const char *const names[][2] = {
        { "n1", NUIOA_CACHE_DIR "/n1.cache" },
        { "n1.site.org", NUIOA_CACHE_DIR "/n1.site.org.cache" },
        { "../../etc/x", NUIOA_CACHE_DIR "/localhost.cache" },
        { "", NUIOA_CACHE_DIR "/localhost.cache" },
    };
    char path[NUIOA_CACHE_PATH_SIZE];
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        host_name = names[i][0];
        nuioa_cache_path(path);
        assert_string_equal(path, names[i][1]);
    }
    host_name = "n1";
}

static const char *directory;
static struct nuioa_node node;

static int begin(void **state)
{
    (void)state;
    machine_quad(&node);
    directory = file_directory();
    return 0;
}

static int end(void **state)
{
    (void)state;
    nuioa_node_free(&node);
    return 0;
}

/* Expects that no cache is written, a message with `text`, and that nothing is left behind. */
static void refuse(const char *path, const char *text)
{
    struct nuioa_error err = { "" };
    struct leak_check before = leak_check_begin();
    unsigned files = files_in(directory);
    assert_true(nuioa_cache_write(path, &node, NULL, &err) < 0);
    if (!strstr(err.text, text))
        fail_msg("'%s', wanted '%s'", err.text, text);
    assert_int_equal(files_in(directory), files);
    leak_check_end(&before);
}

/* Makes "DIRECTORY/./././.../c" with `length` characters. */
static const char *long_path(size_t length)
{
    static char path[2 * PATH_MAX];
    size_t used = (size_t)snprintf(path, sizeof(path), "%s", directory);
    while (used + 2 < length - 1)
        used += (size_t)snprintf(path + used, sizeof(path) - used, "/.");
    while (used < length - 1)
        path[used++] = '/';
    snprintf(path + used, sizeof(path) - used, "c");
    assert_int_equal(strlen(path), length);
    return path;
}

TEST_WITHIN(test_paths, begin, end)
{
    char path[128], name[300];
    struct nuioa_error err = { "" };
    assert_int_equal(nuioa_cache_write(long_path(1000), &node, NULL, &err), 0);
    assert_int_equal(unlink(long_path(1000)), 0);
    refuse(long_path(PATH_MAX + 10), "name too long"); /* that of the directory */
    assert_int_equal(nuioa_cache_write(long_path(PATH_MAX - 10), &node, NULL, &err), 0);
    assert_int_equal(unlink(long_path(PATH_MAX - 10)), 0);

    snprintf(path, sizeof(path), "%s/n1.cache", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    refuse(path, "not a regular file");
    assert_int_equal(rmdir(path), 0);

    memset(name, 'x', sizeof(name) - 1); /* longer than a file's name may be */
    name[sizeof(name) - 1] = '\0';
    name[0] = '/';
    refuse(name, "/xxxx");
}

/* A distance file that is not there counts by its name. */
TEST_WITHIN(test_no_distances, begin, end)
{
    char path[128];
    struct nuioa_node kept;
    snprintf(path, sizeof(path), "%s/n1.cache", directory);
    assert_int_equal(nuioa_cache_write(path, &node, "/nonexistent/a", NULL), 0);
    assert_int_equal(nuioa_cache_read(path, "/nonexistent/b", &kept, NULL), -ESTALE);
    assert_int_equal(nuioa_cache_read(path, NULL, &kept, NULL), -ESTALE);
    assert_int_equal(nuioa_cache_read(path, "/nonexistent/a", &kept, NULL), 0);
    nuioa_node_free(&kept);
    assert_int_equal(unlink(path), 0);
}

/* A read may be interrupted, and need not read all. */
TEST_WITHIN(test_reads, begin, end)
{
    char path[128];
    struct nuioa_node kept;
    struct nuioa_error err = { "" };
    snprintf(path, sizeof(path), "%s/n1.cache", directory);
    assert_int_equal(nuioa_cache_write(path, &node, NULL, &err), 0);
    signals = 3;
    int rc = nuioa_cache_read(path, NULL, &kept, &err);
    assert_int_equal(signals, 0);
    signals = -1;
    if (rc)
        fail_msg("%s", err.text);
    assert_int_equal(kept.nic_count, node.nic_count);
    nuioa_node_free(&kept);
    assert_int_equal(unlink(path), 0);
}

/* On a remote file system each of these calls may fail. */
TEST_WITHIN(test_reads_fail, begin, end)
{
    char path[128];
    struct nuioa_node kept;
    struct nuioa_error err = { "" };
    struct leak_check before = leak_check_begin();
    snprintf(path, sizeof(path), "%s/n1.cache", directory);
    assert_int_equal(nuioa_cache_write(path, &node, NULL, &err), 0);
    broken = true;
    int rc = nuioa_cache_read(path, NULL, &kept, &err);
    broken = false;
    assert_int_equal(rc, -EINVAL);
    assert_non_null(strstr(err.text, "n1.cache: cannot be read whole"));
    int count = 0;
    for (bool failed = true; failed; count++) {
        stats = count;
        rc = nuioa_cache_read(path, NULL, &kept, &err);
        failed = stats < 0;
        stats = -1;
        assert_int_equal(rc, failed ? -ESTALE : 0);
        if (failed)
            assert_non_null(strstr(err.text, "Stale file handle"));
    }
    assert_true(count > 2); /* of the directories, of the file, and once more of the file */
    nuioa_node_free(&kept);
    assert_int_equal(unlink(path), 0);
    leak_check_end(&before);
}

TEST_WITHIN(test_no_mode, begin, end)
{
    char path[128];
    struct nuioa_error err = { "" };
    snprintf(path, sizeof(path), "%s/n1.cache", directory);
    no_mode = true;
    int rc = nuioa_cache_write(path, &node, NULL, &err);
    no_mode = false;
    assert_int_equal(rc, -EPERM);
    assert_non_null(strstr(err.text, "n1.cache: Operation not permitted"));
    assert_int_equal(files_in(directory), 2);
}

TEST_WITHIN(test_close_fails, begin, end)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/n1.cache", directory);
    disk_full = true;
    struct nuioa_error err = { "" };
    int rc = nuioa_cache_write(path, &node, NULL, &err);
    disk_full = false;
    assert_int_equal(rc, -ENOSPC);
    assert_non_null(strstr(err.text, "n1.cache: No space left on device"));
    assert_int_equal(files_in(directory), 2);
}

/* The first cache makes the directory, which all may read, whatever the umask is. */
TEST_WITHIN(test_standard_directory, begin, end)
{
    char path[NUIOA_CACHE_PATH_SIZE];
    struct nuioa_error err = { "" };
    struct stat st;
    private_run();
    nuioa_cache_path(path);
    mode_t before = umask(077);
    int rc = nuioa_cache_write(path, &node, NULL, &err);
    umask(before);
    if (rc)
        fail_msg("%s", err.text);
    assert_int_equal(stat(NUIOA_CACHE_DIR, &st), 0);
    assert_int_equal(st.st_mode, S_IFDIR | 0755);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0644);
}
