/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps/step_load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "topology/cache.h"
#include "util/secure_file.h"
#include "util/sysfs.h"

/* More entries of the directory than this are not looked at. */
#define ENTRIES_MAX (4 * NUIOA_STEP_LOADS_MAX)

/* More ranks than a node can have; it keeps every sum finite. */
#define RANKS_MAX 1e6

#define MAGIC "nuioaSTL"
#define LOCK_NAME ".lock"

/* The content of a file, in the byte order of the machine. */
struct content {
    char magic[8]; /* it changes with the format */
    char boot_id[40];
    struct nuioa_step_load load;
};

/* --- the directory ---------------------------------------------------------------------------- */

static int open_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

/* Nobody but root can write where these two directories are. */
static int create_standard(void)
{
    static const char *const paths[] = { NUIOA_CACHE_DIR, NUIOA_STEP_LOAD_DIR };
    for (unsigned i = 0; i < 2; i++)
        if (mkdir(paths[i], 0755) ? errno != EEXIST : chmod(paths[i], 0755)) /* not by the umask */
            return -errno;
    return open_directory(NUIOA_STEP_LOAD_DIR);
}

static int check_directory(const char *path, int fd, struct nuioa_error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return nuioa_fail(err, -EPERM, "%s: others than root can write to it", path);
    return 0;
}

int nuioa_step_directory_open(struct nuioa_step_directory *directory, const char *path, bool create,
                              struct nuioa_error *err)
{
    *directory = (struct nuioa_step_directory){ -1, -1 };
    int fd = open_directory(path);
    if (fd == -ENOENT && create && !strcmp(path, NUIOA_STEP_LOAD_DIR))
        fd = create_standard();
    int rc = fd < 0 ? nuioa_fail(err, fd, "%s: %s", path, strerror(-fd))
                    : nuioa_secure_directory(path, err);
    if (!rc)
        rc = check_directory(path, fd, err);
    directory->fd = fd;
    if (!rc)
        directory->lock =
            openat(fd, LOCK_NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
    if (rc)
        nuioa_step_directory_close(directory);
    return rc;
}

void nuioa_step_directory_close(struct nuioa_step_directory *directory)
{
    if (directory->fd >= 0)
        close(directory->fd);
    if (directory->lock >= 0)
        close(directory->lock);
    *directory = (struct nuioa_step_directory){ -1, -1 };
}

/* --- who runs --------------------------------------------------------------------------------- */

/* Each running step holds a lock on one byte, which its components on the node share. The kernel
 * gives it back with the last descriptor of the open file, so the lock also says who runs in
 * another process namespace (namespace/linux of Slurm), where numbers of processes differ. It does
 * not end with the process that asks for it, which with contain_spank ends before the step. Returns
 * the type of the lock, or -errno. */
static int lock_step(int lock, int command, short type, uint32_t job, uint32_t step)
{
    struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };
    range.l_start = (off_t)job << 31 | (step & INT32_MAX);
    if (fcntl(lock, command, &range) < 0)
        return -errno;
    return range.l_type;
}

/* Returns false only if it is known that the step does not run any more. */
static bool is_running(const struct nuioa_step_directory *directory, uint32_t job, uint32_t step)
{
    return directory->lock < 0 ||
           lock_step(directory->lock, F_OFD_GETLK, F_WRLCK, job, step) != F_UNLCK;
}

/* --- one file --------------------------------------------------------------------------------- */

static void read_boot_id(char boot_id[40])
{
    memset(boot_id, 0, 40);
    nuioa_sysfs_text(AT_FDCWD, boot_id, 40, "/proc/sys/kernel/random/boot_id");
    size_t end = strlen(boot_id);
    memset(boot_id + end, 0, 40 - end);
}

static void name_of(const struct nuioa_step_load *load, const char *prefix, char name[64])
{
    snprintf(name, 64, "%s%u.%u.%u", prefix, load->job, load->step, load->pid);
}

/* Lets the user of the step read the file. Where the file system has no access control lists, only
 * root reads it. */
static void let_user_read(int fd, uint32_t uid)
{
    struct {
        struct posix_acl_xattr_header header;
        struct posix_acl_xattr_entry entries[5];
    } acl = {
        { POSIX_ACL_XATTR_VERSION },
        { { ACL_USER_OBJ, ACL_READ | ACL_WRITE, (uint32_t)ACL_UNDEFINED_ID },
          { ACL_USER, ACL_READ, uid },
          { ACL_GROUP_OBJ, 0, (uint32_t)ACL_UNDEFINED_ID },
          { ACL_MASK, ACL_READ, (uint32_t)ACL_UNDEFINED_ID },
          { ACL_OTHER, 0, (uint32_t)ACL_UNDEFINED_ID } },
    };
    if (uid != geteuid())
        fsetxattr(fd, "system.posix_acl_access", &acl, sizeof(acl), 0);
}

/* Copies each field by itself: the file must not have what is behind the end of a text or in gaps
 * of the struct, which is memory of slurmstepd's, because the user may read it. */
static int write_all(int fd, const struct nuioa_step_load *load)
{
    struct content content;
    struct nuioa_step_load *to = &content.load;
    memset(&content, 0, sizeof(content));
    memcpy(content.magic, MAGIC, sizeof(content.magic));
    read_boot_id(content.boot_id);
    to->job = load->job;
    to->step = load->step;
    to->uid = load->uid;
    to->pid = load->pid;
    to->nic_count = load->nic_count;
    for (uint32_t i = 0; i < load->nic_count; i++) {
        nuioa_copy(to->nics[i].nic, sizeof(to->nics[i].nic), load->nics[i].nic);
        to->nics[i].ranks = load->nics[i].ranks;
    }
    ssize_t done = write(fd, &content, sizeof(content));
    if (done < 0)
        return -errno;
    return (size_t)done == sizeof(content) ? 0 : -ENOSPC;
}

int nuioa_step_load_write(const struct nuioa_step_directory *directory,
                          const struct nuioa_step_load *load, struct nuioa_error *err)
{
    char temporary[64], name[64];
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    name_of(load, ".", temporary);
    name_of(load, "", name);
    int rc = lock_step(directory->lock, F_OFD_SETLK, F_RDLCK, load->job, load->step);
    if (rc < 0)
        return nuioa_fail(err, rc, "NIC load: %s: %s: %s", name, LOCK_NAME, strerror(-rc));
    int fd = openat(directory->fd, temporary, flags, 0600);
    if (fd < 0 && errno == EEXIST) { /* from a process that had this number and was killed */
        unlinkat(directory->fd, temporary, 0);
        fd = openat(directory->fd, temporary, flags, 0600);
    }
    if (fd < 0)
        return nuioa_fail(err, -errno, "NIC load: %s: %s", name, strerror(errno));
    rc = write_all(fd, load);
    if (!rc)
        let_user_read(fd, load->uid);
    close(fd);
    if (!rc && renameat(directory->fd, temporary, directory->fd, name))
        rc = -errno;
    if (rc) {
        unlinkat(directory->fd, temporary, 0);
        nuioa_fail(err, rc, "NIC load: %s: %s", name, strerror(-rc));
    }
    return rc;
}

void nuioa_step_load_remove(const struct nuioa_step_directory *directory,
                            const struct nuioa_step_load *load)
{
    char name[64];
    name_of(load, "", name);
    if (directory->fd >= 0)
        unlinkat(directory->fd, name, 0);
}

int nuioa_step_load_decode(const void *bytes, size_t length, struct nuioa_step_load *load)
{
    struct content content;
    char boot_id[sizeof(content.boot_id)];
    if (length != sizeof(content))
        return -EINVAL;
    memcpy(&content, bytes, sizeof(content));
    if (memcmp(content.magic, MAGIC, sizeof(content.magic)) ||
        content.load.nic_count > NUIOA_STEP_LOAD_NICS)
        return -EINVAL;
    for (uint32_t i = 0; i < content.load.nic_count; i++) {
        const struct nuioa_nic_load *nic = &content.load.nics[i];
        if (!memchr(nic->nic, '\0', sizeof(nic->nic)) || !(nic->ranks >= 0) ||
            nic->ranks > RANKS_MAX)
            return -EINVAL;
    }
    read_boot_id(boot_id);
    if (memcmp(content.boot_id, boot_id, sizeof(boot_id)))
        return -ESTALE;
    *load = content.load;
    return 0;
}

/* Returns a descriptor, or -EACCES if the file is not for the caller, -ENOENT if it has just gone,
 * or -EINVAL if it is no step's. */
static int open_file(int directory, const char *name)
{
    struct stat st;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES || errno == ENOENT ? -errno : -EINVAL;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) &&
        !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    close(fd);
    return -EINVAL;
}

static int read_file(int directory, const char *name, struct nuioa_step_load *load)
{
    char bytes[sizeof(struct content) + 1]; /* one more byte shows that a file is too long */
    int fd = open_file(directory, name);
    if (fd < 0)
        return fd;
    ssize_t length = read(fd, bytes, sizeof(bytes));
    close(fd);
    return length < 0 ? -EINVAL : nuioa_step_load_decode(bytes, (size_t)length, load);
}

/* --- all files -------------------------------------------------------------------------------- */

struct reader {
    const struct nuioa_step_directory *directory;
    struct nuioa_step_load *loads; /* NULL until a file is there: mostly none is */
    uint32_t count;
    unsigned bad;
    char first_bad[64];
};

/* Returns false if `name` is not JOB.STEP.PID, or the same after a point, which is the name of a
 * file that is still being written. */
static bool read_name(const char *name, struct nuioa_step_load *named, bool *temporary)
{
    char end;
    *temporary = *name == '.';
    name += *temporary;
    return strlen(name) < 33 && *name >= '0' && *name <= '9' &&
           sscanf(name, "%u.%u.%u%c", &named->job, &named->step, &named->pid, &end) == 3;
}

static void take_file(struct reader *r, const char *name)
{
    struct nuioa_step_load *load = &r->loads[r->count];
    struct nuioa_step_load named;
    bool temporary, known = read_name(name, &named, &temporary);
    bool running = known && is_running(r->directory, named.job, named.step);
    if (known && temporary) {
        if (!running)
            unlinkat(r->directory->fd, name, 0);
        return;
    }
    int rc = known ? read_file(r->directory->fd, name, load) : -EINVAL;
    if (!rc && (load->job != named.job || load->step != named.step || load->pid != named.pid))
        rc = -EINVAL;
    if (!rc && !running)
        rc = -ESTALE;
    if (rc == -ESTALE)
        unlinkat(r->directory->fd, name, 0); /* fails for a user, which does no harm */
    else if (rc == -EINVAL && !r->bad++)
        snprintf(r->first_bad, sizeof(r->first_bad), "%.60s", name);
    else if (!rc)
        r->count++;
}

static int compare_loads(const void *a, const void *b)
{
    const struct nuioa_step_load *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Returns 0 or -ENOMEM. */
static int take_files(struct reader *r, DIR *list)
{
    const struct dirent *entry;
    for (unsigned i = 0; i < ENTRIES_MAX && r->count < NUIOA_STEP_LOADS_MAX; i++) {
        entry = readdir(list);
        if (!entry)
            break;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            !strcmp(entry->d_name, LOCK_NAME))
            continue;
        if (!r->loads)
            r->loads = calloc(NUIOA_STEP_LOADS_MAX, sizeof(*r->loads));
        if (!r->loads)
            return -ENOMEM;
        take_file(r, entry->d_name);
    }
    return 0;
}

int nuioa_step_loads_read(const struct nuioa_step_directory *directory,
                          struct nuioa_step_load **loads, uint32_t *count, struct nuioa_error *err)
{
    struct reader r = { .directory = directory };
    DIR *list = nuioa_sysfs_list(directory->fd, ".");
    err->text[0] = '\0';
    *loads = NULL;
    *count = 0;
    if (!list)
        return nuioa_fail(err, -errno, "NIC load of other steps: %s", strerror(errno));
    int rc = take_files(&r, list);
    closedir(list);
    if (rc)
        return nuioa_fail(err, -ENOMEM, "NIC load of other steps: out of memory");
    if (r.bad)
        nuioa_fail(err, -EINVAL,
                   "NIC load of other steps: %u file%s ignored, which no step has written: the "
                   "first is %s (remove %s)",
                   r.bad, r.bad == 1 ? "" : "s", r.first_bad, r.bad == 1 ? "it" : "them");
    if (r.count)
        qsort(r.loads, r.count, sizeof(*r.loads), compare_loads);
    *loads = r.loads;
    *count = r.count;
    return 0;
}

void nuioa_step_loads_sum(const struct nuioa_step_load *loads, uint32_t count,
                          const struct nuioa_node *node, double *ranks)
{
    char label[48];
    for (uint32_t n = 0; n < node->nic_count; n++) {
        nuioa_nic_label(&node->nics[n], label, sizeof(label));
        ranks[n] = 0;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k < loads[i].nic_count; k++)
                if (!strcmp(loads[i].nics[k].nic, label))
                    ranks[n] += loads[i].nics[k].ranks;
    }
}
