/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_MEASURED_H
#define NUIOA_TOPOLOGY_NIC_MEASURED_H

#include <stdint.h>

#include "topology/policy.h"

/* This holds what `nuioa probe --nic` has measured between a NIC and a NUMA node, and what of it
 * is believed. */
struct nuioa_nic_measured {
    double write_mb_s; /* 10^6 bytes a second that the card writes into its memory; 0: unknown */
    double read_mb_s;  /* and reads from its memory; 0: unknown */
    double latency_ns; /* of a message of one of its cores; 0: unknown */
    double mad;        /* how medians spread: median absolute deviation over the median */
    uint32_t n;        /* how many values each median is of; 0: nothing was measured */
};

/* The largest value of a member. */
#define NUIOA_MEASURED_MAX 1e12

/* Returns the price of reaching NUMA node k from a NIC, 1 or more: how many times less the card
 * writes to it (or longer a message takes, with policy latency) than with its best NUMA node. A
 * difference of less than 4 standard errors is none: noise makes that once in 16,000 pairs. One of
 * single values is none. `measured` has `count` entries. Returns 0 if that was not measured. */
double nuioa_measured_price(const struct nuioa_nic_measured *measured, uint32_t count, uint32_t k,
                            enum nuioa_policy policy);

#endif
