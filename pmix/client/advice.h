/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_ADVICE_H
#define NUIOA_PMIX_CLIENT_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmix/client/nuioa-client.h"

/* This header is private to pmix/client. It declares the advice that a process was given, whether
 * it was read from PMIx or from the environment. */

struct rank_list {
    size_t count;
    uint32_t *ranks; /* allocated by malloc */
};

struct nuioa_client {
    enum nuioa_client_source source;
    bool planned;
    bool has_leader, has_level, has_weight;
    uint32_t leader, near, level;
    double weight;
    struct rank_list order, rails, leaders;
    char *nic, *cpus; /* allocated by malloc; NULL: not known */
};

/* Empties advice that contradicts itself. Removes the list of all nodes' leaders if the leader of
 * this node is not in it. */
void advice_check(struct nuioa_client *advice);

/* Frees what the advice holds, and empties it. The struct itself belongs to the caller. */
void advice_clear(struct nuioa_client *advice);

/* Reads this process's rank from its environment. Returns false if no launcher has set it. */
bool advice_own_rank(uint32_t *rank);

#endif
