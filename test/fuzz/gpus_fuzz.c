/* SPDX-License-Identifier: BSD-3-Clause */

/* The first byte says which GPUs may be opened; then the lines are the environment of a process. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "topology/gpu_visible.h"
#include "topology/gpu_count.h"

enum { VARIABLES_MAX = 12, GPUS = 6 };

/* Two GPUs of each vendor; of one the UUID is not known. */
static void find_visible(char *const *environment, unsigned openable)
{
    struct nuioa_gpu gpus[GPUS] = { { .vendor = NUIOA_GPU_NVIDIA, .model = 1 },
                                    { .vendor = NUIOA_GPU_NVIDIA, .model = 1 },
                                    { .vendor = NUIOA_GPU_AMD, .model = 2 },
                                    { .vendor = NUIOA_GPU_AMD, .model = 3 },
                                    { .vendor = NUIOA_GPU_INTEL },
                                    { .vendor = NUIOA_GPU_INTEL } };
    const struct nuioa_gpu_device devices[GPUS] = {
        { .uuid = "GPU-8932f937" },
        { .uuid = "GPU-8932aaaa" },
        { .uuid = "GPU-0f6cd6d5a4f3c9d1", .kfd = 2 },
        { .kfd = openable % 2 },
    };
    const struct nuioa_node node = { .gpus = gpus, .gpu_count = GPUS };
    hwloc_bitmap_t may = hwloc_bitmap_alloc(), found = hwloc_bitmap_alloc();
    INPUT_CHECK(may && found && !hwloc_bitmap_from_ulong(may, openable % (1 << GPUS)));
    bool counted = openable < 128;
    bool known = nuioa_gpus_visible(&node, devices, environment, counted ? may : NULL, found);
    INPUT_CHECK(hwloc_bitmap_last(found) < GPUS);
    INPUT_CHECK(known || hwloc_bitmap_iszero(found));
    INPUT_CHECK(!counted || hwloc_bitmap_isincluded(found, may));
    uint32_t order[GPUS];
    uint32_t count = nuioa_gpus_in_order(&node, devices, environment, counted ? may : NULL, order);
    INPUT_CHECK(count <= GPUS);
    for (uint32_t i = 0; i < count; i++)
        INPUT_CHECK(hwloc_bitmap_isset(may, order[i]));
    hwloc_bitmap_free(may);
    hwloc_bitmap_free(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    char *environment[VARIABLES_MAX + 1] = { NULL };
    unsigned openable = input_byte(&input);
    for (unsigned i = 0; i < VARIABLES_MAX && input.size; i++)
        environment[i] = input_line(&input);
    enum nuioa_gpus given = nuioa_gpus_given(environment);
    INPUT_CHECK(given <= NUIOA_GPUS_SEVERAL);
    find_visible(environment, openable);
    for (unsigned i = 0; i < VARIABLES_MAX; i++)
        free(environment[i]);
    return 0;
}
