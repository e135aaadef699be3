/* SPDX-License-Identifier: BSD-3-Clause */

/* Which files root may believe: every directory on the way counts, those that links lead through
 * too. */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "leak_check.h"
#include "unit.h"
#include "util/secure_file.h"

static const char *top;

/* top/safe/file; top/open, to which all may write; top/sticky, where all may put something. */
static int begin(void **state)
{
    (void)state;
    top = file_directory();
    if (chdir(top) || mkdir("safe", 0755) || mkdir("open", 0755) || mkdir("sticky", 0755))
        return -1;
    int fd = open("safe/file", O_CREAT | O_WRONLY, 0600);
    return close(fd) || chmod("open", 0777) || chmod("sticky", 01777);
}

static void link_to(const char *target, const char *name)
{
    if (symlink(target, name))
        fail_msg("%s: %s", name, strerror(errno));
}

/* Opens it under both names, "safe/file" and "/tmp/.../safe/file". */
static int try(const char *name, struct nuioa_error *err)
{
    char path[256];
    struct leak_check before = leak_check_begin();
    snprintf(path, sizeof(path), "%s/%s", top, name);
    int rc = nuioa_secure_open(name, err), absolute = nuioa_secure_open(path, err);
    if (rc >= 0)
        close(rc);
    if (absolute >= 0)
        close(absolute);
    leak_check_end(&before);
    assert_int_equal(rc < 0 ? rc : 0, absolute < 0 ? absolute : 0);
    return rc < 0 ? rc : 0;
}

static void good(const char *name)
{
    struct nuioa_error err = { "" };
    if (try(name, &err))
        fail_msg("%s: %s", name, err.text);
}

static void bad(const char *name, int rc, const char *why)
{
    struct nuioa_error err = { "" };
    assert_int_equal(try(name, &err), rc);
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in '%s'", why, err.text);
}

TEST_WITHIN(test_files, begin, NULL)
{
    good("safe/file");
    good("./safe//../safe/./file");
    bad("safe/none", -ENOENT, "safe/none: No such file");
    bad("none/file", -ENOENT, "none: No such file");
    bad("safe/file/x", -ENOTDIR, "safe/file: not a directory");
    bad("safe", -EPERM, "not a regular file");
    bad("safe/", -EPERM, "not a regular file");
    assert_int_equal(mkfifo("safe/fifo", 0600), 0);
    bad("safe/fifo", -EPERM, "not a regular file");
    assert_int_equal(chmod("safe/file", 0620), 0);
    bad("safe/file", -EPERM, "others may write to it");
    assert_int_equal(chmod("safe/file", 0600), 0);
    assert_int_equal(chmod("safe", 0775), 0);
    bad("safe/file", -EPERM, "safe: others may write to it");
}

static int check_directory(const char *path, struct nuioa_error *err)
{
    const char *name;
    int fd = nuioa_secure_parent(path, &name, err);
    return fd < 0 ? fd : close(fd);
}

TEST_WITHIN(test_links, begin, NULL)
{
    link_to("safe", "link");
    link_to("../safe", "safe/relative");
    good("link/file");
    good("link/relative/relative/file");
    good("link/../safe/file");
    link_to("file", "safe/last");
    bad("safe/last", -EPERM, "a symbolic link");
    link_to("none", "dangling");
    bad("dangling/file", -ENOENT, "No such file");
    link_to("loop", "loop");
    bad("loop/file", -ELOOP, "symbolic links");
    assert_int_equal(check_directory("link/", NULL), 0);
    assert_int_equal(check_directory("loop/", NULL), -ELOOP);
}

/* As /var/run is on all systems. */
TEST_WITHIN(test_system_links, begin, NULL)
{
    struct nuioa_error err = { "" };
    struct stat st;
    if (lstat("/var/run", &st) || !S_ISLNK(st.st_mode))
        skip();
    if (check_directory("/var/run/", &err))
        fail_msg("%s", err.text);
}

/* The link leads to a secure place now, and another place when the file is opened. */
TEST_WITHIN(test_links_of_others, begin, NULL)
{
    link_to("../safe", "open/link");
    bad("open/link/file", -EPERM, "open: others may write to it");
    link_to("open/link", "long");
    bad("long/file", -EPERM, "open: others may write to it");
    assert_int_equal(check_directory("open/link/", NULL), -EPERM);
    link_to("../safe", "sticky/link");
    bad("sticky/link/file", -EPERM, "sticky/link: a symbolic link");
    if (geteuid())
        return;
    link_to("safe", "theirs");
    assert_int_equal(lchown("theirs", 65534, 65534), 0);
    bad("theirs/file", -EPERM, "theirs: a symbolic link");
    assert_int_equal(chown("safe", 65534, 65534), 0);
    bad("safe/file", -EPERM, "safe: owned by uid 65534");
}
