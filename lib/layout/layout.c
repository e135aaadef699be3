/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/assign.h"
#include "layout/order.h"

/* With more ranks than this, one search over all nodes finds less than one for each switch. */
#define WHOLE_MAX 2048

/* make_safe() tries the patterns of the nodes of this many ranks. */
#define PATTERNS_MAX 64

/* Returns the evaluations that the mappers may use. The more ranks, the more of them it takes until
 * nothing better is found; above 300 ranks, time ends it: 2 s, or 4 s above WHOLE_MAX. With levels
 * an evaluation takes less of it. */
static uint64_t effort_for(uint32_t ranks, bool levels)
{
    const uint64_t small = 500000, each = 200000, most = 60000000;
    if (ranks <= 32)
        return small;
    if (ranks > WHOLE_MAX)
        return levels ? 3 * most : 3 * most / 2;
    return each * ranks < most ? each * ranks : most;
}

/* Fills node_of[]. Returns 0 or -ENOMEM. */
static int search(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                  const uint32_t *tasks, uint32_t *node_of, const char **mapper)
{
    uint64_t effort = effort_for(t->rank_count, network->level_count > 0);
    if (!network->level_count)
        return nuioa_layout_assign(t, network, tasks, NULL, effort, node_of, mapper);
    bool whole = t->rank_count <= WHOLE_MAX;
    int rc = nuioa_layout_assign_levels(t, network, tasks, whole ? effort / 2 : effort, node_of);
    *mapper = "levels";
    if (rc || !whole)
        return rc;
    return nuioa_layout_assign(t, network, tasks, node_of, effort / 2, node_of, mapper);
}

/* --- the layout ------------------------------------------------------------------------------ */

static bool is_worth(const struct nuioa_layout_traffic *t, const struct nuioa_layout *l)
{
    double gain = l->block.cost - l->layout.cost;
    return gain > 0 && gain >= NUIOA_LAYOUT_LEAST_GAIN * l->block.cost &&
           gain >= NUIOA_LAYOUT_LEAST_SHARE * t->all_bytes;
}

/* Tries to find a safe layout that is as good as the one that was found, which is not: grids of
 * ranks have one mostly. */
static int make_safe(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                     struct nuioa_layout *l)
{
    uint32_t nodes = network->node_count, ranks = t->rank_count, tries = PATTERNS_MAX;
    uint32_t *repeated = malloc(((size_t)ranks + 1) * sizeof(*repeated));
    struct nuioa_layout_figures figures;
    int rc = repeated ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < ranks && tries-- && !l->safe && !rc; i++) {
        if (!nuioa_order_repeat(l->node_of, ranks, nodes, l->node_of[i], repeated))
            continue;
        rc = nuioa_layout_measure(t, network, repeated, &figures);
        if (!rc && figures.cost <= l->layout.cost) {
            memcpy(l->node_of, repeated, ranks * sizeof(*repeated));
            l->layout = figures;
            l->safe = true;
        }
    }
    free(repeated);
    return rc;
}

/* Returns true if one of srun's layouts costs less than the one that was found, or the same where
 * that one is not safe. */
static bool is_better(const struct nuioa_layout_figures *srun, const struct nuioa_layout *l)
{
    return srun->cost < l->layout.cost || (!l->safe && srun->cost <= l->layout.cost);
}

/* Takes block or cyclic where that is better. */
static void take_srun(const struct nuioa_network *network, const uint32_t *tasks,
                      struct nuioa_layout *l)
{
    if (is_better(&l->cyclic, l) && l->cyclic.cost < l->block.cost) {
        nuioa_layout_cyclic(network->node_count, tasks, l->node_of);
        l->layout = l->cyclic;
        l->mapper = "cyclic";
        l->safe = true;
    } else if (is_better(&l->block, l)) {
        nuioa_layout_block(network->node_count, tasks, l->node_of);
        l->layout = l->block;
        l->mapper = "keep";
        l->safe = true;
    }
}

static int measure_srun(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                        const uint32_t *tasks, struct nuioa_layout *l)
{
    nuioa_layout_cyclic(network->node_count, tasks, l->node_of);
    int rc = nuioa_layout_measure(t, network, l->node_of, &l->cyclic);
    nuioa_layout_block(network->node_count, tasks, l->node_of);
    return rc ? rc : nuioa_layout_measure(t, network, l->node_of, &l->block);
}

int nuioa_layout_make(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                      const uint32_t *tasks, struct nuioa_layout *l)
{
    *l = (struct nuioa_layout){ .mapper = "keep", .safe = true };
    l->node_of = malloc(((size_t)t->rank_count + 1) * sizeof(*l->node_of));
    int rc = l->node_of ? measure_srun(t, network, tasks, l) : -ENOMEM;
    l->layout = l->block;
    if (!rc && l->block.cost > 0) {
        rc = search(t, network, tasks, l->node_of, &l->mapper);
        rc = rc ? rc : nuioa_layout_measure(t, network, l->node_of, &l->layout);
        l->safe = !rc && nuioa_order_is_safe(l->node_of, t->rank_count, network->node_count);
        if (!rc && !l->safe)
            rc = make_safe(t, network, l);
        if (!rc)
            take_srun(network, tasks, l);
    }
    l->use = !rc && is_worth(t, l);
    if (rc) {
        nuioa_layout_free(l);
    } else if (!l->use) {
        nuioa_layout_block(network->node_count, tasks, l->node_of);
        l->safe = true;
    }
    return rc;
}

void nuioa_layout_free(struct nuioa_layout *l)
{
    free(l->node_of);
    *l = (struct nuioa_layout){ 0 };
}
