/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_SUBPROCESS_H
#define NUIOA_UTIL_SUBPROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Work that may hang runs in a child process, which is killed when its time is over. The child
 * writes its result to a pipe. */

/* The function that the child runs: `fd` is its end of the pipe. The child has default signal
 * handling (but see life_ms), blocks no signal, and has no other descriptor above 2 except `keep`
 * (below). When the function returns, the child ends without running exit handlers. */
typedef void nuioa_subprocess_work(int fd, void *arg);

struct nuioa_subprocess {
    pid_t pid; /* 0: there is no child */
    int fd;    /* the end of the pipe that is read */
};

/* The value of a struct nuioa_subprocess without a child. */
#define NUIOA_SUBPROCESS_NONE \
    { \
        0, -1 \
    }

/* Starts a child that runs work(fd, arg), and does not wait for it; the child has a copy of the
 * caller's memory, so `arg` stays the caller's. The child keeps the descriptor `keep` too, unless
 * it is -1. It dies after `life_ms` milliseconds; if that is 0, it has no limit, and ignores ^C and
 * ^\ from the terminal, which are for the caller. It also dies when the calling thread ends, so
 * that this thread must live until then. Returns 0 and sets *child, which the same process must
 * pass to nuioa_subprocess_end; or returns the negative errno of pipe2 or fork, and there is no
 * child. The caller's signal mask and other descriptors do not change. */
int nuioa_subprocess_start(struct nuioa_subprocess *child, nuioa_subprocess_work *work, void *arg,
                           int keep, unsigned life_ms);

/* Waits until the child closes its end of the pipe, at most `deadline_ms` milliseconds from now.
 * The child is not ended, and another process that shares the caller's memory may call it. Returns
 * 0 and sets *bytes to what the child wrote, *length bytes that the caller frees with free();
 * -ETIMEDOUT; -EFBIG if it wrote more than `max` bytes; -ENOMEM; or the negative errno of poll or
 * read. After an error *bytes is as it was, and *length says nothing. 0 does not mean that the
 * child has finished its work: the caller must see that from the bytes. */
int nuioa_subprocess_read(const struct nuioa_subprocess *child, unsigned deadline_ms, size_t max,
                          void **bytes, size_t *length);

/* Kills the child, waits for its end, closes the pipe, and sets *child to NUIOA_SUBPROCESS_NONE. A
 * child that is not dead after half a second, because it is stuck in the kernel, is left behind.
 * Without a child it does nothing. */
void nuioa_subprocess_end(struct nuioa_subprocess *child);

/* Does the same, but waits for 20 ms at most. Returns false if the child is left behind. */
bool nuioa_subprocess_end_soon(struct nuioa_subprocess *child);

/* Closes the pipe, by which the child may see that it is to end: poll(2) reports POLLERR for its
 * end. Waits `wait_ms` for that, then does as nuioa_subprocess_end, but waits for 100 ms at most.
 * Returns true if the child has ended by itself, or there is none. */
bool nuioa_subprocess_finish(struct nuioa_subprocess *child, unsigned wait_ms);

/* Runs `work` in a child and collects what it writes, for at most `deadline_ms` milliseconds: a
 * nuioa_subprocess_start without `keep`, a nuioa_subprocess_read, and a nuioa_subprocess_end in
 * every case. Returns what the first two return. */
int nuioa_subprocess_run(nuioa_subprocess_work *work, void *arg, unsigned deadline_ms, size_t max,
                         void **bytes, size_t *length);

/* Writes all `length` bytes to the descriptor `fd`, also if signals interrupt it. Returns 0, or the
 * negative errno of write(2), and some bytes may have been written. Without a reader SIGPIPE ends a
 * child, as its signals are not ignored. */
int nuioa_subprocess_write(int fd, const void *bytes, size_t length);

#endif
