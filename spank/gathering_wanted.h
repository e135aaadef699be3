#ifndef SPANK_GATHERING_WANTED_H
#define SPANK_GATHERING_WANTED_H

#include <stdbool.h>

#include "hints.h"
#include "option.h"

struct context;

/* Private to gathering_*.c. Whether these options may need a rendezvous: both sides ask this, then the nodes
 * also look at how many they are. */
static inline bool gathering_is_wanted(const struct nuioa_options *o)
{
    if (o->mode == NUIOA_OFF || o->gather == NUIOA_SWITCH_OFF)
        return false;
    return o->gather == NUIOA_SWITCH_ON || o->mode == NUIOA_ON || o->report || o->explain || o->coll ||
           nuioa_hints_file(o->hints);
}

void gathering_end_srun(struct context *context);

#endif
