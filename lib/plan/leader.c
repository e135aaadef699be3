/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <stdlib.h>

static int better(const void *a, const void *b)
{
    const struct nuioa_candidate *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->local < y->local ? -1 : 1;
}

unsigned nuioa_leader_order(struct nuioa_candidate *candidates, unsigned count)
{
    unsigned near = 0;
    qsort(candidates, count, sizeof(*candidates), better);
    while (near < count && candidates[near].level == candidates[0].level)
        near++;
    return near;
}

/* Returns the best candidate that uses the NIC, if `first_only` as its first one; or NULL. */
static const struct nuioa_candidate *best_of(const struct nuioa_candidate *candidates,
                                             unsigned count, uint32_t nic, bool first_only)
{
    for (unsigned i = 0; i < count; i++)
        for (uint32_t k = 0; k < candidates[i].nic_count && !(first_only && k); k++)
            if (candidates[i].nics[k] == nic)
                return &candidates[i];
    return NULL;
}

unsigned nuioa_rail_leaders(const struct nuioa_candidate *candidates, unsigned count,
                            uint32_t *locals)
{
    uint32_t nics = 0;
    unsigned leaders = 0;
    for (unsigned i = 0; i < count; i++)
        for (uint32_t k = 0; k < candidates[i].nic_count; k++)
            nics = candidates[i].nics[k] >= nics ? candidates[i].nics[k] + 1 : nics;
    bool *led = calloc((size_t)nics + 1, sizeof(*led));
    for (uint32_t n = 0; led && n < 2 * nics; n++) {
        bool first_only = n < nics;
        const struct nuioa_candidate *best = NULL;
        if (first_only || !led[n - nics])
            /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): without NICs there is no round. */
            best = best_of(candidates, count, n % nics, first_only);
        if (best)
            locals[leaders++] = best->local;
        for (uint32_t k = 0; best && k < best->nic_count; k++)
            led[best->nics[k]] = true;
    }
    free(led);
    return leaders;
}
