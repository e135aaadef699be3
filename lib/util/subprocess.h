/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_SUBPROCESS_H
#define NUIOA_UTIL_SUBPROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* Private: work that may hang, in a process of its own that lives no longer than a deadline. */

/* What the child does: `fd` is its end of a pipe. It has default signal handling, nothing blocked,
 * no other descriptor above 2, and ends without running exit handlers when this returns. */
typedef void nuioa_subprocess_work(int fd, void *arg);

struct nuioa_subprocess {
    pid_t pid; /* 0: none */
    int fd;    /* what the child writes is read here */
};

#define NUIOA_SUBPROCESS_NONE \
    { \
        0, -1 \
    }

/* Forks, and does not wait. The child also keeps descriptor `keep` (-1: none) and dies by itself
 * after `life_ms`, or with the calling thread. 0 and *child, which one of the two below must end,
 * in this thread; or -errno and none. The caller's signal mask and descriptors are as before. */
int nuioa_subprocess_start(struct nuioa_subprocess *child, nuioa_subprocess_work *work, void *arg,
                           int keep, unsigned life_ms);

/* Waits, at most `deadline_ms`, until the child closes its end; what it wrote, at most `max` bytes,
 * is returned in malloc'd *bytes (caller frees). 0, whether the child wrote all it wanted or not:
 * that is for the caller to tell from the bytes; -ETIMEDOUT; -EFBIG; -errno. Ends the child in
 * every case. */
int nuioa_subprocess_collect(struct nuioa_subprocess *child, unsigned deadline_ms, size_t max,
                             void **bytes, size_t *length);

/* Kills and reaps it, and nobody else: one that does not die (stuck in the kernel) is left after
 * half a second. Nothing if there is none. */
void nuioa_subprocess_end(struct nuioa_subprocess *child);

/* Starts one and collects what it writes. */
int nuioa_subprocess_run(nuioa_subprocess_work *work, void *arg, unsigned deadline_ms, size_t max,
                         void **bytes, size_t *length);

/* Writes all, whatever signals come: 0 or -errno. */
int nuioa_subprocess_write(int fd, const void *bytes, size_t length);

#endif
