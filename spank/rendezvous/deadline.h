/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_DEADLINE_H
#define SPANK_RENDEZVOUS_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* How long a node waits for srun in the rendezvous: one deadline for all waits, from the call to
 * srun's answer (timeout_ms). Only waiting counts: deadline_resume() moves the deadline on by
 * the time that the node has spent on other work. A client owns it; one thread uses it. */

struct deadline {
    int64_t until_us;  /* when waiting ends, by nuioa_clock_us() */
    int64_t looked_us; /* when the clock was last looked at; later time has not been waited yet */
    int64_t asked_us;  /* when is_over() was last called */
    /* Called ten times a second while waiting, also if bytes come meanwhile. If it returns true,
     * this wait and all later ones end at once. NULL: nothing ends them but the time. */
    bool (*is_over)(void *arg);
    void *arg;
};

/* Sets the deadline to `timeout_ms` milliseconds from now. */
void deadline_begin(struct deadline *deadline, unsigned timeout_ms, bool (*is_over)(void *arg),
                    void *arg);

/* Waiting begins again: the time since the clock was last looked at does not count. */
void deadline_resume(struct deadline *deadline);

/* Looks at the clock, and asks whether the step is over, whether or not bytes come: a hostile peer
 * may send one now and then. Returns 0; -ETIMEDOUT if only `keep_us` of the time are left; or
 * -EINTR if the step is over: then no time is left. */
int deadline_check(struct deadline *deadline, int64_t keep_us);

/* Waits for events (POLLIN, POLLOUT) on a descriptor until only `keep_us` of the time are left.
 * Returns 0, the negative errno of poll(2), or what deadline_check() returns. */
int deadline_wait(struct deadline *deadline, int fd, short events, int64_t keep_us);

/* The time that was left when the clock was last looked at; never below 0. */
int64_t deadline_left_us(const struct deadline *deadline);

#endif
