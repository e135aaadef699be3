/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_POLICY_H
#define NUIOA_TOPOLOGY_POLICY_H

/* The policy says what limits a job, as its user knows. It decides which NICs are best and which
 * numbers of a profile count: BANDWIDTH, bytes; LATENCY, messages. */

enum nuioa_policy { NUIOA_POLICY_BANDWIDTH, NUIOA_POLICY_LATENCY };

#endif
