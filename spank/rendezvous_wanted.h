/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_WANTED_H
#define SPANK_RENDEZVOUS_WANTED_H

#include <stdbool.h>

#include "plan/option.h"
#include "profile/hints.h"

/* Private to rendezvous_*.c. Whether these options may need a rendezvous: both sides ask this, then
 * how many nodes there are. */
static inline bool rendezvous_is_wanted(const struct nuioa_options *o)
{
    if (o->mode == NUIOA_OFF || o->gather == NUIOA_SWITCH_OFF)
        return false;
    return o->gather == NUIOA_SWITCH_ON || o->mode == NUIOA_ON || o->report || o->explain ||
           o->coll || nuioa_hints_file(o->hints);
}

/* Above so many nodes only those who ask for something that needs it wait for all. */
#define RENDEZVOUS_AUTO_NODES_MAX 256

/* Whether a step on so many nodes calls. */
static inline bool rendezvous_is_needed(const struct nuioa_options *o, uint32_t node_count)
{
    if (!rendezvous_is_wanted(o))
        return false;
    if (o->gather == NUIOA_SWITCH_ON || o->report || o->explain || o->coll ||
        nuioa_hints_file(o->hints))
        return true;
    return node_count > 1 && node_count <= RENDEZVOUS_AUTO_NODES_MAX;
}

#endif
