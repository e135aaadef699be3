/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_LEAK_CHECK_H
#define TEST_LEAK_CHECK_H

#include <signal.h>

/* A call must leave as they were: descriptors, blocked signals, no children. */
struct leak_check {
    unsigned descriptors;
    sigset_t blocked;
};

unsigned files_in(const char *directory);
struct leak_check leak_check_begin(void);
void leak_check_end(const struct leak_check *before);

#endif
