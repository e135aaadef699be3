/* SPDX-License-Identifier: BSD-3-Clause */

/* One deadline for all waits of a node. The clock is the test's own. */

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "spank/rendezvous/deadline.h"

#define SECOND_US 1000000

static int64_t now_us;
static unsigned asked;
static bool over;

int64_t __wrap_nuioa_clock_us(void);
int __wrap_poll(struct pollfd *waited, nfds_t count, int timeout_ms);

int64_t __wrap_nuioa_clock_us(void)
{
    return now_us;
}

/* Nothing happens, and time passes. */
int __wrap_poll(struct pollfd *waited, nfds_t count, int timeout_ms)
{
    (void)waited, (void)count;
    assert_true(timeout_ms > 0);
    now_us += timeout_ms * 1000;
    return 0;
}

static bool is_over(void *arg)
{
    assert_ptr_equal(arg, &over);
    asked++;
    return over;
}

static int begin(void **state)
{
    (void)state;
    now_us = 5;
    asked = 0;
    over = false;
    return 0;
}

/* Several waits together take the time of one; what lies between them does not count. */
static void test_only_waiting_counts(void **state)
{
    struct deadline d;
    (void)state;
    deadline_begin(&d, 1000, NULL, NULL);
    now_us += SECOND_US / 4;
    assert_int_equal(deadline_check(&d, 0), 0);
    assert_int_equal(deadline_left_us(&d), 3 * SECOND_US / 4);
    now_us += 100 * SECOND_US; /* PMIx starts */
    deadline_resume(&d);
    assert_int_equal(deadline_left_us(&d), 3 * SECOND_US / 4);
    int64_t since = now_us;
    assert_int_equal(deadline_wait(&d, 0, POLLIN, 0), -ETIMEDOUT);
    assert_int_equal(now_us - since, 3 * SECOND_US / 4);
    assert_int_equal(deadline_left_us(&d), 0);
    now_us += SECOND_US;
    deadline_resume(&d);
    assert_int_equal(deadline_check(&d, 0), -ETIMEDOUT);
}

static void test_some_time_is_kept(void **state)
{
    struct deadline d;
    (void)state;
    deadline_begin(&d, 1000, NULL, NULL);
    assert_int_equal(deadline_wait(&d, 0, POLLIN, SECOND_US / 10), -ETIMEDOUT);
    assert_int_equal(deadline_left_us(&d), SECOND_US / 10);
    assert_int_equal(deadline_check(&d, 0), 0);
}

/* It asks ten times a second whether the step is over, and also if bytes come one by one, but not
 * because of time that it has not waited. */
static void test_the_step_ends(void **state)
{
    struct deadline d;
    (void)state;
    deadline_begin(&d, 10000, is_over, &over);
    for (int i = 0; i < 100; i++, now_us += SECOND_US / 100)
        assert_int_equal(deadline_check(&d, 0), 0);
    assert_in_range(asked, 9, 10);
    asked = 0;
    now_us += 100 * SECOND_US;
    deadline_resume(&d);
    assert_int_equal(deadline_check(&d, 0), 0);
    assert_int_equal(asked, 0);
    over = true;
    int64_t since = now_us;
    assert_int_equal(deadline_wait(&d, 0, POLLIN, 0), -EINTR);
    assert_true(now_us - since <= SECOND_US / 10);
    deadline_resume(&d);
    assert_int_equal(deadline_check(&d, 0), -ETIMEDOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_only_waiting_counts, begin),
        cmocka_unit_test_setup(test_some_time_is_kept, begin),
        cmocka_unit_test_setup(test_the_step_ends, begin),
    };
    return cmocka_run_group_tests_name("deadline", tests, NULL, NULL);
}
