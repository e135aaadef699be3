/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/gpu_access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

/* A killed child ends at once, unless it hangs in the kernel. */
#define END_MS 500

static enum gpu_access judge(const char *file)
{
    if (!*file)
        return GPU_ACCESS_UNKNOWN;
    if (!faccessat(AT_FDCWD, file, R_OK | W_OK, 0))
        return GPU_ACCESS_GRANTED;
    return errno == EPERM    ? GPU_ACCESS_DENIED
           : errno == EACCES ? GPU_ACCESS_CLOSED
                             : GPU_ACCESS_UNKNOWN;
}

void gpu_access_self(const struct nuioa_gpu_device *devices, uint32_t count, uint8_t *access)
{
    for (uint32_t i = 0; i < count; i++)
        access[i] = (uint8_t)judge(devices[i].file);
}

#ifdef CLONE_INTO_CGROUP

/* Waits until the child has ended, for which its descriptor becomes readable. 0 or -errno. */
static int await(int pidfd, int64_t until_ms)
{
    struct pollfd wait = { .fd = pidfd, .events = POLLIN };
    for (;;) {
        int64_t left = until_ms - nuioa_clock_ms();
        int ready = poll(&wait, 1, left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left);
        if (ready > 0)
            return 0;
        if (ready == 0)
            return -ETIMEDOUT;
        if (errno != EINTR)
            return -errno;
    }
}

/* Ends the child in every case. It is killed by its number, which no other process can have before
 * it is waited for. Nobody else does that, because Slurm does not wait for such children. */
static int collect(pid_t pid, int pidfd, int64_t until_ms)
{
    int status = 0, rc = await(pidfd, until_ms);
    if (rc < 0) {
        kill(pid, SIGKILL);
        await(pidfd, nuioa_clock_ms() + END_MS);
    }
    pid_t got = waitpid(pid, &status, __WALL | WNOHANG);
    if (rc < 0)
        return rc;
    return got == pid && WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

/* The child has copies of the memory, as after fork(2), but runs none of the functions that
 * libraries have registered for it. It does not return. */
int gpu_access_ask(int cgroup, const struct nuioa_gpu_device *devices, uint32_t count,
                   int64_t until_ms, uint8_t *access)
{
    int pidfd = -1;
    struct clone_args args = {
        .flags = CLONE_INTO_CGROUP | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
        .pidfd = (uintptr_t)&pidfd,
        .cgroup = (unsigned)cgroup,
    };
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        gpu_access_self(devices, count, access);
        _exit(0);
    }
    int rc = collect(pid, pidfd, until_ms);
    close(pidfd);
    return rc;
}

#else

int gpu_access_ask(int cgroup, const struct nuioa_gpu_device *devices, uint32_t count,
                   int64_t until_ms, uint8_t *access)
{
    (void)cgroup, (void)devices, (void)count, (void)until_ms, (void)access;
    return -ENOSYS;
}

#endif
