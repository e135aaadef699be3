/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <string.h>

#include "input.h"

void options_check(const struct nuioa_options *o)
{
    INPUT_CHECK(o->mode <= NUIOA_ON && o->policy <= NUIOA_POLICY_LATENCY);
    INPUT_CHECK(o->cores <= NUIOA_CORES_PACK && o->mem <= NUIOA_MEM_INTERLEAVE);
    INPUT_CHECK(o->leader <= NUIOA_LEADER_OFF);
    INPUT_CHECK(o->deadline_ms - 1 < 60000);
    INPUT_CHECK(o->remote_cost >= 0 && o->remote_cost <= 100);
    INPUT_CHECK(o->hop_cost >= 0 && o->hop_cost <= 100);
    INPUT_CHECK(o->load_cost >= 0 && o->load_cost <= 100);
    INPUT_CHECK(memchr(o->hints, '\0', sizeof(o->hints)) && memchr(o->nic, '\0', sizeof(o->nic)));
    INPUT_CHECK(memchr(o->trace, '\0', sizeof(o->trace)) != NULL);
}
