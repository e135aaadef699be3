/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "spank/stepd/beside.h"

#define HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LINE "0000000000000000: 00000002 00000000 00010000 0001 01 39243 "

/* Whether step 0 of job 5 has another beside it. */
static bool any(const char *sockets)
{
    return beside_find(sockets, 5, 0);
}

static void steps(void **state)
{
    (void)state;
    assert_false(any(""));
    assert_false(any(HEAD LINE "/spool/n1_5.0\n"));
    assert_true(any(HEAD LINE "/spool/n1_5.0\n" LINE "/spool/n1_5.1\n"));
    assert_true(any(HEAD LINE "/spool/n1_6.0\n" LINE "/spool/n1_5.0\n"));
    assert_true(any(HEAD LINE "/spool/n1_6.0\n" LINE "/spool/n1_5.0")); /* no newline */
    /* the same step twice: its socket, and a connection to it */
    assert_false(any(HEAD LINE "/spool/n1_5.0\n" LINE "/spool/n1_5.0\n"));
    /* a component of a heterogeneous step */
    assert_true(any(HEAD LINE "/spool/n1_5.0.1\n" LINE "/spool/n1_7.3.0\n"));
    assert_false(any(HEAD LINE "/spool/n1_5.0.1\n"));
}

/* The batch script, and those that only hold an allocation, are nobody beside it. */
static void no_steps(void **state)
{
    (void)state;
    assert_false(any(HEAD LINE "/spool/n1_5.0\n" LINE "/spool/n1_5.4294967291\n" LINE
                               "/spool/n1_5.4294967292\n" LINE "/spool/n1_6.4294967290\n"));
}

static void others(void **state)
{
    (void)state;
    /* Another node's slurmd on this machine, and other programs */
    assert_false(any(HEAD LINE "/spool/n1_5.0\n" LINE "/spool/n2_6.0\n" LINE "/spool/n_6.0\n"));
    assert_false(any(HEAD LINE "/spool/n1_5.0\n" LINE "/tmp/n1_6.0\n"));
    assert_false(any(HEAD LINE "/spool/n1_5.0\n" LINE "@/spool/n1_6.0\n"));
    assert_false(any(HEAD LINE "/spool/n1_5.0\n" LINE "/spool/n1_6\n" LINE "/spool/n1_.0\n" LINE
                               "/spool/n1_6.\n" LINE "/spool/n1_6.x\n" LINE "\n" LINE "/\n" LINE
                               "/spool/n1_99999999999.1\n" LINE "/spool/n1_6.0x\n\n\n_6.0\n"));
    assert_false(any(HEAD LINE "/spool/n1_6.0\n")); /* its own is not there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),
        cmocka_unit_test(no_steps),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
