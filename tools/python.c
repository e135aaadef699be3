/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "tools/python.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/tool.h"
#include "util/subprocess.h"

/* Finds a script beside this program; or where it is installed, also if the whole installation was
 * moved. Returns 0, or -1 if it is nowhere. */
static int find_script(const char *script, char path[PATH_MAX])
{
    static const char *const places[] = { "", "../libexec/nuioa/" };
    char here[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);
    here[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(here, '/');
    for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
        slash[1] = '\0';
        int size = snprintf(path, PATH_MAX, "%s%s%s", here, places[i], script);
        if (size < PATH_MAX && !access(path, R_OK))
            return 0;
    }
    snprintf(path, PATH_MAX, NUIOA_PKGLIBEXECDIR "/%s", script);
    return access(path, R_OK);
}

int tool_python_exec(const char *script, int argc, char **argv)
{
    char path[PATH_MAX], python[] = "python3", isolated[] = "-I";
    if (find_script(script, path))
        return tool_fail("%s: %s. Reinstall nuioa", path, strerror(errno));
    char **words = calloc((size_t)argc + 4, sizeof(*words));
    if (!words)
        return tool_fail("out of memory");
    words[0] = python;
    words[1] = isolated;
    words[2] = path;
    for (int i = 1; i < argc; i++)
        words[2 + i] = argv[i];
    execvp(words[0], words);
    int error = errno;
    free(words);
    return tool_fail("%s: %s. This command requires it: install Python 3.6 or later", python,
                     strerror(error));
}

/* Returns a file in memory that has the text, or -1. It is none of the standard descriptors, which
 * stay closed if they were. */
static int file_of(const char *text)
{
    int low = memfd_create("nuioa", MFD_CLOEXEC);
    if (low < 0)
        return -1;
    int fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(low);
    errno = error;
    if (fd < 0 || (!nuioa_subprocess_write(fd, text, strlen(text)) && !lseek(fd, 0, SEEK_SET)))
        return fd;
    close(fd);
    return -1;
}

/* Blocks SIGCHLD and what stops a program, unless that is ignored. */
static void block_signals(sigset_t *awaited, sigset_t *before)
{
    static const int stops[] = { SIGHUP, SIGINT, SIGTERM };
    sigemptyset(awaited);
    sigaddset(awaited, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++)
        if (signal(stops[i], SIG_DFL) == SIG_IGN)
            signal(stops[i], SIG_IGN);
        else
            sigaddset(awaited, stops[i]);
    sigprocmask(SIG_BLOCK, awaited, before);
}

/* Runs the script, and hands signals on to it. Returns its exit status. */
static int run(const char *script, int argc, char **argv, int in, int out)
{
    sigset_t awaited, before;
    int status = TOOL_UNANSWERED << 8, number, stop = 0;
    block_signals(&awaited, &before);
    pid_t child = fork();
    if (!child) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (!prctl(PR_SET_PDEATHSIG, SIGTERM) && dup2(in, STDIN_FILENO) >= 0 &&
            dup2(out, STDOUT_FILENO) >= 0)
            _exit(tool_python_exec(script, argc, argv));
    }
    if (child <= 0)
        tool_fail("%s: %s", script, strerror(errno));
    if (!child)
        _exit(TOOL_UNANSWERED);
    while (child > 0 && !waitpid(child, &status, WNOHANG))
        if (!sigwait(&awaited, &number) && number != SIGCHLD)
            kill(child, stop = number);
    stop = WIFSIGNALED(status) ? WTERMSIG(status) : stop;
    if (stop) {
        tool_fail("stopped by signal %d", stop);
        signal(stop, SIG_DFL);
        raise(stop);
    }
    sigprocmask(SIG_SETMASK, &before, NULL); /* the signal arrives now */
    return WEXITSTATUS(status);
}

int tool_python_run(const char *script, int argc, char **argv, const char *text, char **printed,
                    size_t *length)
{
    int in = file_of(text), out = file_of("");
    int rc = in < 0 || out < 0 ? tool_fail("%s: %s", script, strerror(errno))
                               : run(script, argc, argv, in, out);
    off_t size = lseek(out, 0, SEEK_END);
    *printed = calloc(1, size > 0 ? (size_t)size + 1 : 1);
    ssize_t got = *printed && size > 0 ? pread(out, *printed, (size_t)size, 0) : 0;
    *length = got > 0 ? (size_t)got : 0;
    if (!rc && got < size)
        rc = tool_fail("%s: %s", script, strerror(errno));
    close(in);
    close(out);
    return rc;
}
