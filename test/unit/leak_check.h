#ifndef TEST_LEFT_H
#define TEST_LEFT_H

#include <signal.h>

/* What a call must leave as it was: descriptors, blocked signals, no children. */
struct left {
    unsigned descriptors;
    sigset_t blocked;
};

unsigned files_in(const char *directory);
struct left look_around(void);
void check_left(const struct left *before);

#endif
