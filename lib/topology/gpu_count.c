/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/gpu_count.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "util/variable.h"
#include "util/word.h"

/* "0-3" is a range of GPUs, "GPU-8932f937-..." is the name of one. */
static int is_range(const char *item)
{
    size_t digits = strspn(item, "0123456789");
    return digits && item[digits] == '-';
}

static enum nuioa_gpus count_list(const char *list)
{
    if (!list)
        return NUIOA_GPUS_UNKNOWN;
    if (nuioa_word_index("|-1|none|void|NoDevFiles", list) >= 0)
        return NUIOA_GPUS_NONE;
    return strchr(list, ',') || is_range(list) ? NUIOA_GPUS_SEVERAL : NUIOA_GPUS_ONE;
}

static enum nuioa_gpus count_number(const char *text)
{
    uint32_t count;
    if (!text || nuioa_parse_u32(text, UINT32_MAX, &count) < 0)
        return NUIOA_GPUS_UNKNOWN;
    return count > 1 ? NUIOA_GPUS_SEVERAL : count ? NUIOA_GPUS_ONE : NUIOA_GPUS_NONE;
}

static enum nuioa_gpus most(enum nuioa_gpus a, enum nuioa_gpus b)
{
    return a > b ? a : b;
}

enum nuioa_gpus nuioa_gpus_given(char *const *environment)
{
    static const char vendors[][24] = { "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                        "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                        "ZE_AFFINITY_MASK" };
    enum nuioa_gpus given = NUIOA_GPUS_UNKNOWN;
    for (size_t i = 0; i < sizeof(vendors) / sizeof(*vendors); i++)
        given = most(given, count_list(nuioa_variable(environment, vendors[i])));
    if (given <= NUIOA_GPUS_NONE)
        given = most(given, count_list(nuioa_variable(environment, "SLURM_STEP_GPUS")));
    if (given <= NUIOA_GPUS_NONE)
        given = most(given, count_number(nuioa_variable(environment, "SLURM_GPUS_ON_NODE")));
    return given;
}

/* Returns how many numbers are in a list such as "0,2" or "0-3"; 0 if it is no such list. */
static uint32_t count_numbers(const char *list)
{
    uint32_t count = 0;
    while (list && *list) {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (!isdigit((unsigned char)*list))
            return 0;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            last = strtoul(end + 1, &end, 10);
        if ((*end && *end != ',') || last < first || last - first > UINT16_MAX)
            return 0;
        count += (uint32_t)(last - first) + 1;
        list = *end ? end + 1 : end;
    }
    return count;
}

uint32_t nuioa_gpus_of_step(char *const *environment)
{
    uint32_t listed = count_numbers(nuioa_variable(environment, "SLURM_STEP_GPUS"));
    uint32_t said = nuioa_variable_number(environment, "SLURM_GPUS_ON_NODE", UINT32_MAX, 0);
    return said > listed ? said : listed;
}
