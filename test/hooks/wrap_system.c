/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand_in.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../unit/rounds.h"
#include "wrap.h"

/* The system calls. Calls that cannot fail for want of anything, such as close() and waitpid() of a
 * child that there is, are left alone. */

/* --- files ------------------------------------------------------------------------------------ */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    char other[4096];
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (fault_hits(FAULT_OPEN, EMFILE))
        return -1;
    if (flags & O_PATH &&
        strncmp(path, "/sys/", 5)) /* a walk that checks who owns each directory */
        return __real_open(path, flags, mode);
    return __real_open(stand_in_path(path, other, sizeof(other)), flags, mode);
}

int __real_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return fault_hits(FAULT_OPEN, EMFILE) ? -1 : __real_openat(at, path, flags, mode);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    char other[4096];
    return fault_hits(FAULT_OPEN, EMFILE)
               ? NULL
               : __real_fopen(stand_in_path(path, other, sizeof(other)), mode);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    char other[4096];
    return __real_access(stand_in_path(path, other, sizeof(other)), mode);
}

/* What the kernel says of the device files of GPUs. */
int __wrap_faccessat(int at, const char *path, int mode, int flags);
int __wrap_faccessat(int at, const char *path, int mode, int flags)
{
    (void)at, (void)mode, (void)flags;
    if (fault_hits(FAULT_OPEN, EMFILE))
        return -1;
    /* The second GPU has the first number. */
    if (stand_in.variant->gpus == GPUS_SHARED || !strcmp(path, "/dev/dri/renderD128"))
        return 0;
    errno = EPERM;
    return -1;
}

WRAP(FAULT_OPEN, EMFILE, -1, int, dup2, (int from, int to), (from, to))
WRAP(FAULT_OPEN, EMFILE, -1, int, pipe2, (int ends[2], int flags), (ends, flags))
WRAP(FAULT_OPEN, EMFILE, NULL, FILE *, fdopen, (int fd, const char *mode), (fd, mode))
WRAP(FAULT_OPEN, EMFILE, NULL, DIR *, fdopendir, (int fd), (fd))

WRAP(FAULT_READ, EIO, -1, ssize_t, read, (int fd, void *to, size_t size), (fd, to, size))
WRAP(FAULT_READ, EIO, -1, ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room),
     (fd, to, size, room))
WRAP(FAULT_READ, EIO, -1, ssize_t, readlinkat, (int at, const char *path, char *to, size_t size),
     (at, path, to, size))
WRAP(FAULT_READ, EIO, -1, int, stat, (const char *path, struct stat *to), (path, to))
WRAP(FAULT_READ, EIO, -1, int, fstat, (int fd, struct stat *to), (fd, to))
WRAP(FAULT_READ, EAGAIN, -1, ssize_t, getrandom, (void *to, size_t size, unsigned flags),
     (to, size, flags))

/* The line is read into memory that the caller owns, even if it cannot be read. */
#define WRAP_LINE(name) \
    ssize_t __real_##name(char **text, size_t *size, int end, FILE *file); \
    ssize_t __wrap_##name(char **text, size_t *size, int end, FILE *file); \
    ssize_t __wrap_##name(char **text, size_t *size, int end, FILE *file) \
    { \
        const void *was = *text; \
        ssize_t length = fault_hits(FAULT_READ, EIO) ? -1 : __real_##name(text, size, end, file); \
        if (*text != was) { \
            ledger_remove(was); \
            ledger_add(*text, __builtin_return_address(0)); \
        } \
        return length; \
    }
WRAP_LINE(getdelim)
WRAP_LINE(__getdelim)

WRAP(FAULT_WRITE, ENOSPC, -1, ssize_t, write, (int fd, const void *from, size_t size),
     (fd, from, size))
WRAP(FAULT_WRITE, EROFS, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(FAULT_WRITE, EROFS, -1, int, fchmod, (int fd, mode_t mode), (fd, mode))

/* --- sockets ---------------------------------------------------------------------------------- */

#define WRAP_SOCKET(error, type, name, parameters, arguments) \
    WRAP(FAULT_SOCKET, error, -1, type, name, parameters, arguments)

WRAP_SOCKET(EMFILE, int, socket, (int family, int type, int protocol), (family, type, protocol))
WRAP_SOCKET(EMFILE, int, socketpair, (int family, int type, int protocol, int ends[2]),
            (family, type, protocol, ends))
WRAP_SOCKET(EADDRINUSE, int, bind, (int fd, const struct sockaddr *to, socklen_t size),
            (fd, to, size))
WRAP_SOCKET(EADDRINUSE, int, listen, (int fd, int backlog), (fd, backlog))
WRAP_SOCKET(ENETUNREACH, int, connect, (int fd, const struct sockaddr *to, socklen_t size),
            (fd, to, size))
WRAP_SOCKET(EMFILE, int, accept4, (int fd, struct sockaddr *from, socklen_t *size, int flags),
            (fd, from, size, flags))
WRAP_SOCKET(ECONNRESET, ssize_t, send, (int fd, const void *from, size_t size, int flags),
            (fd, from, size, flags))
WRAP_SOCKET(ECONNRESET, ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),
            (fd, message, flags))
WRAP_SOCKET(ECONNRESET, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags),
            (fd, message, flags))
WRAP_SOCKET(ECONNRESET, ssize_t, recv, (int fd, void *to, size_t size, int flags),
            (fd, to, size, flags))
WRAP_SOCKET(ENOBUFS, int, getsockname, (int fd, struct sockaddr *to, socklen_t *size),
            (fd, to, size))
WRAP_SOCKET(ENOBUFS, int, getsockopt, (int fd, int level, int name, void *to, socklen_t *size),
            (fd, level, name, to, size))
WRAP_SOCKET(ENOBUFS, int, setsockopt,
            (int fd, int level, int name, const void *from, socklen_t size),
            (fd, level, name, from, size))

/* Under valgrind the limits of what hangs are longer: programs are slow there. */
static int slowness(void)
{
    return RUNNING_ON_VALGRIND ? 20 : 1;
}

int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
    if (fault_hits(FAULT_SOCKET, ENOMEM))
        return -1;
    return __real_poll(fds, count, ms > 0 ? ms * slowness() : ms);
}

int64_t __real_nuioa_clock_ms(void);
int64_t __wrap_nuioa_clock_ms(void);
int64_t __wrap_nuioa_clock_ms(void)
{
    return __real_nuioa_clock_ms() / slowness();
}
/* --- processes, threads, places --------------------------------------------------------------- */

WRAP(FAULT_PROCESS, EAGAIN, -1, pid_t, fork, (void), ())
WRAP(FAULT_PROCESS, EAGAIN, -1, int, setresuid, (uid_t real, uid_t effective, uid_t saved),
     (real, effective, saved))
WRAP(FAULT_PROCESS, EPERM, -1, int, setresgid, (gid_t real, gid_t effective, gid_t saved),
     (real, effective, saved))
WRAP(FAULT_PROCESS, EPERM, -1, int, setgroups, (size_t count, const gid_t *groups), (count, groups))
WRAP(FAULT_PROCESS, EPERM, -1, pid_t, setsid, (void), ())
WRAP(FAULT_PROCESS, EPERM, -1, int, setrlimit,
     (__rlimit_resource_t resource, const struct rlimit *limit), (resource, limit))

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
    va_list args;
    va_start(args, option);
    unsigned long argument = va_arg(args, unsigned long);
    va_end(args);
    return fault_hits(FAULT_PROCESS, EINVAL) ? -1 : __real_prctl(option, argument, 0, 0, 0);
}

WRAP(FAULT_THREAD, EAGAIN, EAGAIN, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *with, void *(*run)(void *), void *arg),
     (thread, with, run, arg))

WRAP(FAULT_BIND, ESRCH, -1, int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *to),
     (pid, size, to))
WRAP(FAULT_BIND, EINVAL, -1, int, sched_setaffinity,
     (pid_t pid, size_t size, const cpu_set_t *from), (pid, size, from))

long __real_syscall(long number, ...);

/* A child that is born in a cgroup; there are none here. */
static long clone_child(struct clone_args *args, size_t size)
{
    struct clone_args here = *args;
    if (fault_hits(FAULT_PROCESS, ENOSYS))
        return -1;
    here.flags &= ~(__u64)CLONE_INTO_CGROUP;
    long pid = __real_syscall(SYS_clone3, &here, size);
    if (pid == 0 && stand_in.variant->gpus == GPUS_KILLED)
        raise(SIGKILL);
    if (pid == 0 && stand_in.variant->gpus == GPUS_STOPPED)
        raise(SIGSTOP);
    return pid;
}

/* Without AddressSanitizer, which would mark this frame: exit_group does not return, and the marks
 * would stay in the memory that a process of contain_spank shares with slurmstepd. */
long __wrap_syscall(long number, ...);
__attribute__((no_sanitize_address)) long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_clone3)
        return clone_child((struct clone_args *)a[0], (size_t)a[1]);
    if (number == SYS_clone && fault_hits(FAULT_PROCESS, EAGAIN))
        return -1;
    if ((number == SYS_pidfd_open || number == SYS_pidfd_send_signal) &&
        fault_hits(FAULT_PROCESS, ENOSYS))
        return -1;
    if (number == SYS_set_mempolicy && fault_hits(FAULT_BIND, EINVAL))
        return -1;
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

WRAP(FAULT_MEMORY, ENOMEM, -1, int, setenv, (const char *name, const char *value, int overwrite),
     (name, value, overwrite))

int __wrap_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size)
{
    return snprintf(name, size, "%s", stand_in_host()) < 0 ? -1 : 0;
}

/* A child that ends without exit() would lose what gcov has counted. */
void __gcov_exit(void) __attribute__((weak));
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__exit(int status)
{
    if (__gcov_exit)
        __gcov_exit();
    __real__exit(status);
}

/* --- libraries that are loaded when they are needed ------------------------------------------- */

/* This program has the functions of libmunge (munge_stand_in.c) and of libpmix. */
void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    if (!name || strncmp(name, "libmunge", 8))
        return __real_dlopen(name, flags);
    return fault_hits(FAULT_MUNGE, ENOENT) ? NULL : __real_dlopen(NULL, flags);
}

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name)
{
    enum fault_kind kind = strncmp(name, "munge", 5) ? FAULT_PMIX : FAULT_MUNGE;
    return fault_hits(kind, ENOENT) ? NULL : __real_dlsym(library, name);
}
