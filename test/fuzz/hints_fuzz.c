/* SPDX-License-Identifier: BSD-3-Clause */

/* A line of hints, a line of ranks, and how many ranks there is room for. */

#include <stdlib.h>

#include "input.h"
#include "profile/hints.h"
#include "profile/hints_from_profile.h"

static void check_hints(const char *list)
{
    enum { RANKS = 64 };
    struct nuioa_hints hints;
    struct nuioa_error err;
    double weight[RANKS];
    nuioa_hints_file(list);
    if (nuioa_hints_parse(&hints, list, &err))
        return;
    for (uint32_t i = 0; i < RANKS; i++) {
        weight[i] = nuioa_hints_weight(&hints, i);
        INPUT_CHECK(weight[i] >= 0);
    }
    nuioa_hints_weight(&hints, UINT32_MAX);
    nuioa_hints_free(&hints);
    /* A list that nuioa writes of them can be read. */
    char *again = malloc(NUIOA_VALUE_MAX);
    INPUT_CHECK(again != NULL);
    if (!nuioa_hints_from_weights(weight, RANKS, again, NUIOA_VALUE_MAX)) {
        if (INPUT_HOLDS(!nuioa_hints_parse(&hints, again, &err)))
            nuioa_hints_free(&hints);
    }
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    char *list = input_line(&input), *ranks = input_line(&input);
    unsigned max = input_below(&input, 256);
    uint32_t *found = malloc((max + 1) * sizeof(*found));
    struct nuioa_error err;
    INPUT_CHECK(found != NULL);
    check_hints(list);
    int count = nuioa_ranks_parse(ranks, found, max, &err);
    INPUT_CHECK(count < 0 || (unsigned)count <= max);
    free(found);
    free(ranks);
    free(list);
    return 0;
}
