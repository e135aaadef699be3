/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Preloaded into srun, which is the user's own program: what its launch message says of the step,
 * and whether it answers nodes, is the user's to choose.
 *   FORGE_NAME=VALUE  nodes see NAME=VALUE
 *   FORGERY_SILENT    it listens, and never answers
 *   FORGERY_DRIPS     it answers by a byte, and by another one after a twentieth of a second */

extern char **environ;
extern int slurm_env_array_overwrite(char ***environment, const char *name, const char *value);

void env_array_for_step(char ***environment, void *step, void *launch, uint16_t port, bool preserve)
{
    void (*real)(char ***, void *, void *, uint16_t, bool);
    *(void **)&real = dlsym(RTLD_NEXT, "env_array_for_step");
    real(environment, step, launch, port, preserve);
    for (char **variable = environ; *variable; variable++) {
        char name[64], *equals = strchr(*variable, '=');
        size_t length = equals ? (size_t)(equals - *variable) : 0;
        if (strncmp(*variable, "FORGE_", 6) || length < 7 || length - 6 >= sizeof(name))
            continue;
        memcpy(name, *variable + 6, length - 6);
        name[length - 6] = '\0';
        slurm_env_array_overwrite(environment, name, equals + 1);
    }
}

/* Slurm 26.05's srun waits for its own connections in the same way. */
static bool is_plugins(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "nuioa.so");
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, const struct msghdr *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
    if (!getenv("FORGERY_DRIPS") || !is_plugins(__builtin_return_address(0)))
        return real(fd, message, flags);
    ssize_t sent = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        for (size_t k = 0; k < message->msg_iov[i].iov_len; k++) {
            usleep(50000);
            sent += send(fd, (char *)message->msg_iov[i].iov_base + k, 1, flags) == 1;
        }
    return sent;
}

int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
    while (getenv("FORGERY_SILENT") && is_plugins(__builtin_return_address(0)))
        pause();
    return epoll_pwait(fd, events, count, timeout, NULL);
}
