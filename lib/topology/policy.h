/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_POLICY_H
#define NUIOA_TOPOLOGY_POLICY_H

/* What limits a job, as its user says: decides which NICs are best and what of a profile counts. */

enum nuioa_policy { NUIOA_POLICY_BANDWIDTH, NUIOA_POLICY_LATENCY, NUIOA_POLICY_CPU };

#endif
