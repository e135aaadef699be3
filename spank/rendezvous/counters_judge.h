/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_COUNTERS_JUDGE_H
#define SPANK_RENDEZVOUS_COUNTERS_JUDGE_H

#include "spank/rendezvous/counters.h"

/* These functions judge what the counters of a node say about its placement. They only compute. */

/* The sum of what is known to have been received and sent by all NICs of the node, in bytes. */
uint64_t counters_total(const struct counters *counters);

/* Returns the part of the time for which a NIC had to carry its busier direction at its rate, 0 to
 * 1 or a little above; or a negative number if the rate, the time or the bytes are not known. */
double counters_busy(const struct counters *counters, const struct wire_counter *nic);

/* Returns the most that ranks of this node could save if all were beside their NIC, as a part of
 * the step's time: what a busy NIC loses by distance, and what each received packet waits longer.
 * For that 0.3 us are assumed with RDMA, a few accesses to far memory, and ten times as much where
 * the kernel handles the packet. Returns a negative number if what is known sets no bound: also if
 * others have used the NICs. */
double counters_saving(const struct counters *counters);

/* Returns the NIC that carried less than a fifth of what was planned for it, the one with the
 * largest plan of several; NULL if there is none, if the node carried less than a megabyte, or if
 * others have used the NICs. */
const struct wire_counter *counters_idle(const struct counters *counters);

#endif
