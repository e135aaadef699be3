/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_RENDEZVOUS_WANTED_H
#define SPANK_COMMON_RENDEZVOUS_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "option/option.h"
#include "profile/hints.h"

/* What srun and the nodes must decide alike: whether there is a rendezvous, and what for. */

/* Returns true if something needs srun's answer, or all records, in a step of any size. */
static inline bool rendezvous_has_use(const struct nuioa_options *o)
{
    return o->gather == NUIOA_SWITCH_ON || o->report || o->explain || nuioa_hints_file(o->hints);
}

/* Returns true if a step with the options `o` may have a rendezvous. It has one if
 * rendezvous_is_needed() is true too, which needs the number of nodes. */
static inline bool rendezvous_is_wanted(const struct nuioa_options *o)
{
    if (nuioa_options_idle(o) || o->gather == NUIOA_SWITCH_OFF)
        return false;
    return rendezvous_has_use(o) || (o->asked && o->mode == NUIOA_ON);
}

/* A user who types --nuioa, and asks for nothing else, is told which nodes have no plugin, and what
 * goes wrong on several nodes once. No node waits for that; steps of more nodes do without. */
#define RENDEZVOUS_AUTO_NODES_MAX 256

/* Returns true if a step with the options `o` on `node_count` nodes has a rendezvous. In a
 * heterogeneous step the nodes of all components count. `node_count` is 0 if it is not known. */
static inline bool rendezvous_is_needed(const struct nuioa_options *o, uint32_t node_count)
{
    if (!rendezvous_is_wanted(o))
        return false;
    return rendezvous_has_use(o) || (node_count > 1 && node_count <= RENDEZVOUS_AUTO_NODES_MAX);
}

#endif
