/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/leader.h"

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

static int by_nic(const void *a, const void *b)
{
    const struct nuioa_candidate *const *x = a, *const *y = b;
    if ((*x)->nic != (*y)->nic)
        return (*x)->nic < (*y)->nic ? -1 : 1;
    return *x < *y ? -1 : 1; /* the earlier candidate is the better leader */
}

unsigned nuioa_leader_rails(const struct nuioa_candidate *candidates, unsigned count,
                            uint32_t *locals)
{
    const struct nuioa_candidate **sorted = malloc(count * sizeof(*sorted));
    unsigned rails = 0, n = 0;
    if (!sorted)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (candidates[i].nic != UINT32_MAX)
            sorted[n++] = &candidates[i];
    qsort(sorted, n, sizeof(*sorted), by_nic);
    for (unsigned i = 0; i < n; i++)
        if (!i || sorted[i]->nic != sorted[i - 1]->nic)
            locals[rails++] = sorted[i]->local;
    free(sorted);
    return rails;
}
