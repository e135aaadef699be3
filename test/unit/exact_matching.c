/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact_matching.h"

#include <string.h>

static bool augment(struct exact_matching *o, unsigned user, bool *seen)
{
    for (unsigned m = 0; m < o->machines; m++) {
        if (!o->allowed[user][m] || seen[m])
            continue;
        seen[m] = true;
        if (o->held[m] < o->capacity) {
            o->holder[m][o->held[m]++] = user;
            return true;
        }
        for (unsigned k = 0; k < o->held[m]; k++)
            if (augment(o, o->holder[m][k], seen)) {
                o->holder[m][k] = user;
                return true;
            }
    }
    return false;
}

unsigned exact_matching_most(struct exact_matching *o, unsigned capacity)
{
    unsigned count = 0;
    o->capacity = capacity;
    memset(o->held, 0, sizeof(o->held));
    for (unsigned u = 0; u < o->users; u++) {
        bool seen[64] = { false };
        count += augment(o, u, seen);
    }
    return count;
}

unsigned exact_matching_least_load(struct exact_matching *o)
{
    unsigned capacity = 1;
    while (exact_matching_most(o, capacity) < o->users)
        capacity++;
    return capacity;
}
