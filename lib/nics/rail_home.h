/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_NICS_RAIL_HOME_H
#define NUIOA_NICS_RAIL_HOME_H

#include "nics/rails.h"
#include "util/arena.h"

/* Which rails belong to which GPU. Private to the library.
 *
 * Steps that start at the same moment do not see each other. So of equally near rails a GPU takes
 * the one that it would have if all GPUs of the node were in use, one rank on each: of a switch's
 * equal NICs its k-th GPU has the k-th one. This follows from the node alone: each step finds the
 * same, and so do equal nodes. */

#define NUIOA_NO_GPU UINT32_MAX

struct nuioa_rail_homes {
    uint32_t gpu_count; /* that of the node; 0 if there is no rail */
    uint32_t *home;     /* [gpu_count]: the rail that the GPU has as its first one */
    uint32_t *owner; /* [rails->count]: the only GPU that has the rail; NUIOA_NO_GPU: several do, or
                        none is near it */
};

/* Finds the homes of all GPUs of the node. The arrays are taken from `arena`. Without GPUs or rails
 * both are NULL. Returns 0 or -ENOMEM. */
int nuioa_rail_homes_find(const struct nuioa_rails *rails, struct nuioa_arena *arena,
                          struct nuioa_rail_homes *homes);

/* Returns true if the rail belongs to a GPU that is not held: held[gpu_count] are the GPUs which
 * the step is known to have. Another step may have that GPU. */
bool nuioa_rail_is_left(const struct nuioa_rail_homes *homes, const bool *held, uint32_t rail);

#endif
