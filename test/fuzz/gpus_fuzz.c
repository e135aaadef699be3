/* SPDX-License-Identifier: BSD-3-Clause */

/* The lines are the environment of a step. */

#include <stdlib.h>

#include "input.h"
#include "util/gpus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { VARIABLES_MAX = 12 };
    struct input input = { data, size };
    char *environment[VARIABLES_MAX + 1] = { NULL };
    for (unsigned i = 0; i < VARIABLES_MAX && input.size; i++)
        environment[i] = input_line(&input);
    enum nuioa_gpus given = nuioa_gpus_given(environment);
    INPUT_CHECK(given <= NUIOA_GPUS_SEVERAL);
    for (unsigned i = 0; i < VARIABLES_MAX; i++)
        free(environment[i]);
    return 0;
}
