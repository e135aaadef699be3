/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_ADVICE_H
#define NUIOA_PMIX_CLIENT_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmix/client/nuioa-client.h"

/* Private: what a process was told, wherever it was read. */

struct rank_list {
    size_t count;
    uint32_t *ranks; /* malloc'd */
};

struct nuioa_client {
    enum nuioa_client_source source;
    bool planned;
    bool has_leader, has_level, has_weight;
    uint32_t leader, near, level;
    double weight;
    struct rank_list order, rails, leaders;
    char *nic, *cpus; /* malloc'd; NULL: not known */
};

/* Each fills an empty `advice` and sets its source, or leaves it without one. -ENOMEM, else 0. */
int advice_from_pmix(struct nuioa_client *advice);
int advice_from_environment(struct nuioa_client *advice);

/* Advice that contradicts itself is none; a table of leaders without our own is left out. */
void advice_check(struct nuioa_client *advice);

/* Releases what it holds and empties it. */
void advice_clear(struct nuioa_client *advice);

/* This process's rank and namespace as its launcher said; false: it did not. */
bool advice_own_rank(uint32_t *rank);

/* For tests: nuioa_client_device_numa of a machine whose sysfs is below `root`. */
int advice_device_numa(const char *root, const char *device);

#endif
