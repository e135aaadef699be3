/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/deadline.h"

#include <errno.h>
#include <poll.h>

#include "util/clock.h"

/* How often is_over() is called. */
#define ASK_US 100000

void deadline_begin(struct deadline *d, unsigned timeout_ms, bool (*is_over)(void *arg), void *arg)
{
    int64_t now = nuioa_clock_us();
    *d = (struct deadline){ now + (int64_t)timeout_ms * 1000, now, now, is_over, arg };
}

void deadline_resume(struct deadline *d)
{
    int64_t now = nuioa_clock_us(), pause = now - d->looked_us;
    d->until_us += pause;
    d->asked_us += pause;
    d->looked_us = now;
}

int deadline_check(struct deadline *d, int64_t keep_us)
{
    d->looked_us = nuioa_clock_us();
    if (d->looked_us - d->asked_us >= ASK_US) {
        d->asked_us = d->looked_us;
        if (d->is_over && d->is_over(d->arg)) {
            d->until_us = d->looked_us;
            return -EINTR;
        }
    }
    return deadline_left_us(d) > keep_us ? 0 : -ETIMEDOUT;
}

int deadline_wait(struct deadline *d, int fd, short events, int64_t keep_us)
{
    struct pollfd waited = { .fd = fd, .events = events };
    int rc;
    while (!(rc = deadline_check(d, keep_us))) {
        int64_t left = deadline_left_us(d) - keep_us, ask = d->asked_us + ASK_US - d->looked_us;
        int ready = poll(&waited, 1, (int)(((left < ask ? left : ask) + 999) / 1000));
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready > 0 ? 0 : -errno;
    }
    return rc;
}

int64_t deadline_left_us(const struct deadline *d)
{
    return d->until_us > d->looked_us ? d->until_us - d->looked_us : 0;
}
