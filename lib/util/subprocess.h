/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_SUBPROCESS_H
#define NUIOA_UTIL_SUBPROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* Work that may hang runs in a child process, which is killed when its time is over. The child
 * writes its result to a pipe. */

/* The function that the child runs: `fd` is its end of the pipe. The child has default signal
 * handling, blocks no signal, and has no other descriptor above 2 except `keep` (below). When the
 * function returns, the child ends without running exit handlers. */
typedef void nuioa_subprocess_work(int fd, void *arg);

struct nuioa_subprocess {
    pid_t pid; /* 0: there is no child */
    int fd;    /* the end of the pipe that is read */
};

#define NUIOA_SUBPROCESS_NONE \
    { \
        0, -1 \
    }

/* Starts a child and does not wait for it. The child keeps the descriptor `keep` too, unless it is
 * -1. It dies after `life_ms` milliseconds, or when the calling thread ends. Returns 0 and sets
 * *child, which the same thread must pass to nuioa_subprocess_collect or nuioa_subprocess_end; or
 * -errno, and there is no child. The caller's signal mask and other descriptors do not change. */
int nuioa_subprocess_start(struct nuioa_subprocess *child, nuioa_subprocess_work *work, void *arg,
                           int keep, unsigned life_ms);

/* Waits until the child closes its end of the pipe, at most `deadline_ms` milliseconds, and ends
 * the child in every case. Returns 0 and what the child wrote in *bytes (*length bytes; the caller
 * frees it), -ETIMEDOUT, -EFBIG if it wrote more than `max` bytes, or another -errno. 0 does not
 * mean that the child has finished its work: the caller must see that from the bytes. */
int nuioa_subprocess_collect(struct nuioa_subprocess *child, unsigned deadline_ms, size_t max,
                             void **bytes, size_t *length);

/* Kills the child, waits for its end, and closes the pipe. A child that is not dead after half a
 * second, because it is stuck in the kernel, is left behind. Without a child it does nothing. */
void nuioa_subprocess_end(struct nuioa_subprocess *child);

/* Starts a child and collects what it writes: see nuioa_subprocess_start and
 * nuioa_subprocess_collect for the result. */
int nuioa_subprocess_run(nuioa_subprocess_work *work, void *arg, unsigned deadline_ms, size_t max,
                         void **bytes, size_t *length);

/* Writes all `length` bytes, also if signals interrupt it. Returns 0 or -errno. */
int nuioa_subprocess_write(int fd, const void *bytes, size_t length);

#endif
