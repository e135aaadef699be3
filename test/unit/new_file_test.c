/* SPDX-License-Identifier: BSD-3-Clause */

/* Files that are replaced in one step: what is in their place, who made links there, and what
 * others see meanwhile. */

#include <inttypes.h>
#include <limits.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "file.h"
#include "leak_check.h"
#include "unit.h"
#include "util/new_file.h"

static const char *top;
static char back[256];

/* Somebody who guesses the number in the name of a temporary file is faster: something stands there
 * before the file is made. */
static unsigned guesses, tries;

static void take_name(uint64_t number)
{
    char name[64];
    snprintf(name, sizeof(name), "new.%016" PRIx64, number);
    int rc = tries % 3 == 0   ? link("safe", name)
             : tries % 3 == 1 ? symlink("safe", name)
                              : symlink("nowhere", name);
    assert_int_equal(rc, 0);
}

/* In the place of the C library's. */
ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    uint64_t number = tries + 1;
    assert_int_equal(size, sizeof(number));
    memcpy(to, &number, size);
    if (tries < guesses)
        take_name(number);
    tries++;
    return (ssize_t)size;
}

static int begin(void **state)
{
    (void)state;
    top = file_directory();
    return !getcwd(back, sizeof(back)) || chdir(top);
}

static int end(void **state)
{
    (void)state;
    return chdir(back);
}

static int write_file(const char *path, const char *text, struct nuioa_error *err)
{
    struct nuioa_new_file file;
    struct leak_check before = leak_check_begin();
    int rc = nuioa_new_file_open(&file, path, err);
    if (!rc) {
        fputs(text, file.stream);
        rc = nuioa_new_file_close(&file, true, path, err);
    }
    leak_check_end(&before);
    return rc;
}

static void good(const char *path, const char *text)
{
    struct nuioa_error err = { "" };
    if (write_file(path, text, &err))
        fail_msg("%s: %s", path, err.text);
}

static void bad(const char *path, int rc, const char *why)
{
    struct nuioa_error err = { "" };
    assert_int_equal(write_file(path, "new", &err), rc);
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in '%s'", why, err.text);
}

/* Asserts that the file has this content, and that nothing else begins with its name. */
static void has(const char *path, const char *text)
{
    char command[128];
    assert_string_equal(file_text(path), text);
    snprintf(command, sizeof(command), "set -- %.100s*; test $# = 1", path);
    assert_int_equal(system(command), 0);
}

TEST_WITHIN(test_files, begin, end)
{
    char path[128], name[256];
    struct stat st;
    mode_t mask = umask(027);
    good("one", "first");
    umask(mask);
    has("one", "first");
    assert_int_equal(stat("one", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    good("./one", "second");
    has("one", "second");
    snprintf(path, sizeof(path), "%s/one", top);
    good(path, "third");
    has("one", "third");
    memset(name, 'n', 255);
    name[255] = '\0';
    good(name, "long");
    has(name, "long");
    bad("none/one", -ENOENT, "No such file");
    bad("one/one", -ENOTDIR, "one/one: Not a directory");
}

TEST_WITHIN(test_older_file_stays, begin, end)
{
    struct nuioa_new_file file;
    good("one", "first");
    assert_int_equal(nuioa_new_file_open(&file, "one", NULL), 0);
    fputs("second", file.stream);
    assert_int_equal(fflush(file.stream), 0);
    assert_int_equal(nuioa_new_file_close(&file, false, "one", NULL), 0);
    has("one", "first");
}

TEST_WITHIN(test_other_than_files, begin, end)
{
    struct stat st;
    assert_int_equal(mkdir("directory", 0755), 0);
    bad("directory", -EPERM, "not a regular file");
    bad("directory/", -EPERM, "not a regular file");
    bad("directory/..", -EPERM, "not a regular file");
    bad("/", -EPERM, "not a regular file");
    bad("", -EISDIR, "directory");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    bad("fifo", -EPERM, "not a regular file");
    if (geteuid() || mknod("device", S_IFCHR | 0666, makedev(1, 3)))
        return;
    bad("device", -EPERM, "not a regular file");
    assert_int_equal(symlink("device", "link"), 0);
    bad("link", -EPERM, "not a regular file");
    assert_true(!lstat("device", &st) && S_ISCHR(st.st_mode));
}

TEST_WITHIN(test_links, begin, end)
{
    struct stat st;
    assert_int_equal(mkdir("directory", 0755), 0);
    assert_int_equal(symlink("directory/target", "link"), 0);
    good("link", "first"); /* there is no target yet */
    good("link", "second");
    has("directory/target", "second");
    assert_int_equal(symlink("directory", "other"), 0);
    good("other/target", "third");
    has("directory/target", "third");
    assert_true(!lstat("link", &st) && S_ISLNK(st.st_mode));
    assert_int_equal(symlink("loop", "loop"), 0);
    bad("loop", -ELOOP, "symbolic links");
}

/* A process of root writes to a directory of a user, but does not go where the user's links lead;
 * a user follows all links. */
TEST_WITHIN(test_links_of_others, begin, end)
{
    if (geteuid())
        skip();
    assert_int_equal(mkdir("theirs", 0755), 0);
    good("safe", "first");
    assert_int_equal(symlink("../safe", "theirs/link"), 0);
    assert_int_equal(symlink("..", "theirs/up"), 0);
    assert_int_equal(chown("theirs", 65534, 65534), 0);
    good("theirs/file", "for them");
    bad("theirs/link", -EPERM, "theirs/link: a symbolic link that others may have made");
    bad("theirs/up/safe", -EPERM, "theirs/up: a symbolic link");
    assert_int_equal(chown("theirs", 0, 0), 0);
    good("theirs/link", "second");
    assert_int_equal(lchown("theirs/link", 65534, 65534), 0);
    bad("theirs/link", -EPERM, "theirs/link: a symbolic link");
    assert_int_equal(chmod("theirs", 01777), 0);
    bad("theirs/up/safe", -EPERM, "theirs/up: a symbolic link");
    has("safe", "second");
    assert_int_equal(chmod(top, 0777), 0);
    assert_int_equal(seteuid(65534), 0);
    good("theirs/link", "their own");
    assert_int_equal(seteuid(0), 0);
    has("safe", "their own");
}

/* A file at the name of the temporary one is neither written to nor removed. */
TEST_WITHIN(test_a_name_that_is_taken, begin, end)
{
    char path[64];
    struct stat st;
    tries = guesses = 0;
    good("safe", "first");
    tries = 0;
    guesses = 3;
    good("new", "second");
    assert_int_equal(tries, 4);
    guesses = UINT_MAX; /* each number is guessed */
    bad("new", -EEXIST, "new: File exists");
    for (unsigned i = 1; i <= tries; i++) {
        snprintf(path, sizeof(path), "new.%016x", i);
        assert_int_equal(lstat(path, &st), i == 4 ? -1 : 0);
    }
    assert_int_equal(stat("nowhere", &st), -1);
    has("safe", "first");
    assert_true(!lstat("new", &st) && S_ISREG(st.st_mode) && st.st_size == 6);
    guesses = 0;
}

/* The disk is full: this one is the device that says so. */
TEST_WITHIN(test_a_full_disk, begin, end)
{
    struct nuioa_new_file file;
    struct nuioa_error err;
    good("one", "first");
    assert_int_equal(nuioa_new_file_open(&file, "one", &err), 0);
    FILE *full = freopen("/dev/full", "w", file.stream);
    if (!full)
        skip();
    fputs("second", file.stream);
    assert_int_equal(nuioa_new_file_close(&file, true, "one", &err), -ENOSPC);
    assert_string_equal(err.text, "one: No space left on device");
    has("one", "first");
}
