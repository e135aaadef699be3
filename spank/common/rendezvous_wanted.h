/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_RENDEZVOUS_WANTED_H
#define SPANK_COMMON_RENDEZVOUS_WANTED_H

#include <stdbool.h>

#include "option/option.h"
#include "profile/hints.h"
#include "spank/rendezvous/wire.h"

/* What srun and the nodes must decide alike: whether there is a rendezvous, and what for. */

/* Returns true if a step with the options `o` may have a rendezvous. It has one if
 * rendezvous_is_needed() is true too, which needs the number of nodes. */
static inline bool rendezvous_is_wanted(const struct nuioa_options *o)
{
    if (nuioa_options_idle(o) || o->gather == NUIOA_SWITCH_OFF)
        return false;
    return o->gather == NUIOA_SWITCH_ON || o->mode == NUIOA_ON || o->report || o->explain ||
           nuioa_hints_file(o->hints);
}

/* Returns how a warning ends that says why there is no rendezvous. */
static inline const char *rendezvous_consequence(const struct nuioa_options *o)
{
    return o->mode == NUIOA_OFF ? WIRE_WITHOUT_REPORT : WIRE_WITHOUT_TABLE;
}

/* The largest number of nodes of a step that has a rendezvous although no option asks for something
 * that needs one. */
#define RENDEZVOUS_AUTO_NODES_MAX 256

/* Returns true if a step with the options `o` on `node_count` nodes has a rendezvous. In a
 * heterogeneous step the nodes of all components count. `node_count` is 0 if it is not known. */
static inline bool rendezvous_is_needed(const struct nuioa_options *o, uint32_t node_count)
{
    if (!rendezvous_is_wanted(o))
        return false;
    if (o->gather == NUIOA_SWITCH_ON || o->report || o->explain || nuioa_hints_file(o->hints))
        return true;
    return node_count > 1 && node_count <= RENDEZVOUS_AUTO_NODES_MAX;
}

#endif
