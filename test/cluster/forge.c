/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Preloaded into srun, which is the user's own program: what its launch message says of the step,
 * and whether it answers nodes, is the user's to choose.
 *   FORGE_NAME=VALUE  nodes see NAME=VALUE
 *   FORGERY_SILENT    the process that collects reports never answers */

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

static bool is_plugins(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "nuioa.so");
}

static int ask(const void *caller, struct pollfd *fds, nfds_t count, int ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000L };
    while (getenv("FORGERY_SILENT") && is_plugins(caller))
        pause();
    return ppoll(fds, count, ms < 0 ? NULL : &time, NULL);
}

int poll(struct pollfd *fds, nfds_t count, int ms)
{
    return ask(__builtin_return_address(0), fds, count, ms);
}

/* The C library calls this in place of poll() with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t count, int ms, size_t bytes)
{
    (void)bytes;
    return ask(__builtin_return_address(0), fds, count, ms);
}
