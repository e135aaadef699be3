/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/descriptors.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Headers of glibc before 2.34 have no number for it; all architectures of Linux but alpha have
 * this one. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* A reader that reads nothing for so long is given up. */
#define READER_MS 500

enum { CLOSED_ONE_BY_ONE = 65536 };

static void close_from_to(unsigned first, unsigned last)
{
    if (first > last || !syscall(SYS_close_range, first, last, 0u))
        return;
    for (unsigned fd = first; fd <= last && fd < CLOSED_ONE_BY_ONE; fd++)
        close((int)fd);
}

void nuioa_close_all_but(int one, int other)
{
    const int kept[] = { one < other ? one : other, one < other ? other : one };
    unsigned first = STDERR_FILENO + 1;
    for (int i = 0; i < 2; i++)
        if (kept[i] >= (int)first) {
            close_from_to(first, (unsigned)kept[i] - 1);
            first = (unsigned)kept[i] + 1;
        }
    close_from_to(first, UINT_MAX);
}

/* A write of up to PIPE_BUF bytes does not block when poll() reports POLLOUT. */
void nuioa_write_text(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left) {
        struct pollfd out = { .fd = fd, .events = POLLOUT };
        int ready = poll(&out, 1, READER_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || !(out.revents & POLLOUT))
            return;
        ssize_t n = write(fd, text, left < PIPE_BUF ? left : PIPE_BUF);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return;
        text += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
}

size_t nuioa_read_all(int fd, void *bytes, size_t max)
{
    size_t length = 0;
    for (ssize_t got = 1; got && length < max;) {
        got = read(fd, (char *)bytes + length, max - length);
        if (got < 0 && errno != EINTR)
            return length;
        length += got > 0 ? (size_t)got : 0;
    }
    errno = 0;
    return length;
}
