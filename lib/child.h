#ifndef NUIOA_CHILD_H
#define NUIOA_CHILD_H

#include <stddef.h>

/* Private: work that may hang, in a process of its own that lives no longer than a deadline. */

/* Forks; the child has default signal handling, nothing blocked, no descriptor above 2 but its end of
 * a pipe, calls work(fd, arg) and ends without running exit handlers. What it wrote to fd, at most
 * `max` bytes, is returned in malloc'd *bytes (caller frees).
 *
 * 0: the child closed its end in time (whether it wrote all it wanted is for the caller to tell from
 * the bytes); -ETIMEDOUT; -EFBIG; -errno. The child is killed and reaped in every case, and nobody
 * else: a child that does not die (stuck in the kernel) is left after a tenth of a second. The
 * caller's signal mask and descriptors are as before. */
int nuioa_child_run(void (*work)(int fd, void *arg), void *arg, unsigned deadline_ms, size_t max,
                    void **bytes, size_t *length);

/* Writes all, whatever signals come: 0 or -errno. */
int nuioa_child_write(int fd, const void *bytes, size_t length);

#endif
