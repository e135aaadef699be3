/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/slice.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "spank/rendezvous/wire.h"

/* The number of different pairs that so many tasks can form, within the protocol's limit. */
static uint32_t pairs_max(uint32_t task_count)
{
    uint64_t all = (uint64_t)task_count * (task_count - 1) / 2;
    return all < WIRE_PAIRS_MAX ? (uint32_t)all : WIRE_PAIRS_MAX;
}

size_t slice_max(uint32_t task_count)
{
    return sizeof(struct wire_slice) + task_count * sizeof(double) +
           pairs_max(task_count) * sizeof(struct wire_pair);
}

static bool is_weight(double weight)
{
    return weight >= 0 && weight <= 1e30;
}

static bool follows(const struct wire_pair *pair, const struct nuioa_pair *last)
{
    return pair->first > last->first || (pair->first == last->first && pair->second > last->second);
}

/* Reads the pairs. They must be sorted, so that repeated pairs are found at no cost: the time for a
 * plan grows with their number. */
static int read_pairs(const char *bytes, uint32_t task_count, uint32_t count,
                      struct nuioa_pair *pairs)
{
    for (uint32_t i = 0; i < count; i++) {
        struct wire_pair pair;
        memcpy(&pair, bytes + i * sizeof(pair), sizeof(pair));
        if (pair.first >= pair.second || pair.second >= task_count ||
            (i && !follows(&pair, &pairs[i - 1])) || !is_weight(pair.bytes))
            return -EPROTO;
        pairs[i] = (struct nuioa_pair){ pair.first, pair.second, pair.bytes };
    }
    return 0;
}

int slice_read(const void *body, size_t length, uint32_t task_count, double *weights,
               struct nuioa_pair **pairs, uint32_t *pair_count)
{
    const char *bytes = body;
    struct wire_slice slice;
    if (length < sizeof(slice))
        return -EPROTO;
    /* More bytes than sizeof(slice) are there.
     * NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
    memcpy(&slice, bytes, sizeof(slice));
    if (slice.weight_count != task_count || slice.pair_count > pairs_max(task_count) ||
        length != sizeof(slice) + slice.weight_count * sizeof(double) +
                      slice.pair_count * sizeof(struct wire_pair))
        return -EPROTO;
    memcpy(weights, bytes + sizeof(slice), slice.weight_count * sizeof(double));
    for (uint32_t i = 0; i < slice.weight_count; i++)
        if (!is_weight(weights[i]))
            return -EPROTO;
    *pairs = calloc(slice.pair_count + 1, sizeof(**pairs));
    *pair_count = slice.pair_count;
    return *pairs ? read_pairs(bytes + sizeof(slice) + slice.weight_count * sizeof(double),
                               task_count, slice.pair_count, *pairs)
                  : -ENOMEM;
}
