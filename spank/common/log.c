/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A reader that reads nothing for so long is given up. */
#define READER_MS 500

/* slurm_spank_log() prints at every log level and adds nothing to the line. */
void log_line(const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    nuioa_make_printable(text);
    slurm_spank_log("nuioa: %s", text);
}

/* stderr is shared with the tasks, so it must not be set to O_NONBLOCK. A write of up to PIPE_BUF
 * bytes does not block when poll() reports POLLOUT. */
void log_text(const char *text)
{
    size_t left = strlen(text);
    while (left) {
        struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
        int ready = poll(&out, 1, READER_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || !(out.revents & POLLOUT))
            return;
        ssize_t n = write(STDERR_FILENO, text, left < PIPE_BUF ? left : PIPE_BUF);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            text += n;
            left -= (size_t)n;
        }
    }
}

const char *log_host(char *name, size_t size)
{
    if (gethostname(name, size) < 0)
        snprintf(name, size, "?");
    name[size - 1] = '\0';
    name[strcspn(name, ".")] = '\0';
    return name;
}
