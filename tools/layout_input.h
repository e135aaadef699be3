/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_LAYOUT_INPUT_H
#define NUIOA_TOOL_LAYOUT_INPUT_H

#include <stdbool.h>

#include "layout/network.h"
#include "util/error.h"

/* Where ranks can be: nodes, places on them, and switches. */
struct layout_place {
    struct nuioa_host_list hosts;
    bool unnamed;    /* only their number was given: they are called n0, n1, ... */
    uint32_t *tasks; /* [hosts.count]: how many ranks each node has; their sum is that of all */
    struct nuioa_network network;
    const char *flat; /* why nothing is known of switches, a constant; NULL: it is, or there is one
                         node only */
};

/* What was typed; NULL where it was not. */
struct layout_wish {
    const char *nodes, *tasks_per_node, *network;
};

/* Finds the places for `ranks` ranks: those that were typed, else those of the job in the
 * environment. The network is that of the file, or, for several nodes with names, what scontrol
 * says within two seconds. Returns 0, or a negative errno with *err; the caller frees *place with
 * layout_place_free either way. */
int layout_place_find(const struct layout_wish *wish, uint32_t ranks, struct layout_place *place,
                      struct nuioa_error *err);

/* Returns -EINVAL with *err if this is in a job of Slurm, and a node of *place is not one of its
 * nodes: srun takes no others. Else returns 0. */
int layout_place_check(const struct layout_place *place, struct nuioa_error *err);

/* Frees what *place owns and makes it empty. */
void layout_place_free(struct layout_place *place);

#endif
