/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_EXACT_MATCHING_H
#define TEST_EXACT_MATCHING_H

#include <stdbool.h>

/* An exact matching of users with machines by augmenting paths, which shares nothing with the code
 * under test. A user may have the machines that `allowed` says; the test sets these, and how many
 * users and machines there are, at most 64. */
struct exact_matching {
    unsigned users, machines, capacity;
    bool allowed[64][64];
    unsigned held[64], holder[64][64];
};

/* Returns how many users can have a machine if each machine takes `capacity` of them. */
unsigned exact_matching_most(struct exact_matching *o, unsigned capacity);

/* Returns the least number of users that the most loaded machine must have. Each user may have at
 * least one machine. */
unsigned exact_matching_least_load(struct exact_matching *o);

#endif
