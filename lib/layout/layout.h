/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_LAYOUT_LAYOUT_H
#define NUIOA_LAYOUT_LAYOUT_H

#include "layout/figures.h"

/* Which rank is on which node, so that little is sent between nodes and less between switches. */

struct nuioa_layout {
    uint32_t *node_of; /* [rank_count]: the best layout that was found; srun's block unless `use` */
    const char *mapper; /* what found it, a constant: a mapper; "levels": switches before nodes;
                           "block" or "cyclic", improved or itself; "keep": block itself */
    bool use;           /* it is worth more than srun's block */
    bool safe;          /* nuioa_order_is_safe(); of equally good layouts a safe one is taken */
    struct nuioa_layout_figures block, cyclic, layout; /* `layout`: the best, used or not */
};

/* The layout is of use if it costs 5 % less than block, and if that is 1 % of all bytes of the
 * profile. Less is noise, and a plain srun is simpler. */
#define NUIOA_LAYOUT_LEAST_GAIN 0.05
#define NUIOA_LAYOUT_LEAST_SHARE 0.01

/* Finds a layout for tasks[network->node_count] on each node, as many as there are ranks. Equal
 * input gives an equal layout. Returns 0, and the caller frees *layout with nuioa_layout_free; or
 * -ENOMEM, and it is empty. */
int nuioa_layout_make(const struct nuioa_layout_traffic *traffic,
                      const struct nuioa_network *network, const uint32_t *tasks,
                      struct nuioa_layout *layout);

/* Frees the array and makes the layout empty. */
void nuioa_layout_free(struct nuioa_layout *layout);

#endif
