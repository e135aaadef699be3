/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/hello.h"

#include <stdlib.h>
#include <string.h>

void *hello_make(struct wire_hello *hello, const uint32_t *ranks, size_t *length)
{
    size_t ranks_size = hello->rank_count * sizeof(*ranks);
    char *bytes = malloc(*length = sizeof(*hello) + ranks_size);
    if (!bytes)
        return NULL;
    memcpy(hello->purpose, WIRE_PURPOSE, sizeof(WIRE_PURPOSE));
    memcpy(bytes, hello, sizeof(*hello));
    if (ranks_size)
        memcpy(bytes + sizeof(*hello), ranks, ranks_size);
    return bytes;
}

static bool matches_step(const struct hello_wanted *wanted, const struct wire_hello *hello)
{
    return hello->step_id == wanted->step_id &&
           (wanted->any_job || hello->job_id == wanted->job_id) &&
           (!wanted->node_count || hello->node_count == wanted->node_count);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Returns true if the ranks are all different and below WIRE_RANKS_MAX. `count` is at most
 * WIRE_TASKS_MAX. */
static bool are_ranks(const void *ranks, uint32_t count)
{
    uint32_t sorted[WIRE_TASKS_MAX];
    memcpy(sorted, ranks, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), ascending);
    for (uint32_t i = 1; i < count; i++)
        if (sorted[i] == sorted[i - 1])
            return false;
    return !count || sorted[count - 1] < WIRE_RANKS_MAX;
}

bool hello_read(const struct hello_wanted *wanted, const void *bytes, size_t length,
                struct wire_hello *hello)
{
    if (length < sizeof(*hello))
        return false;
    memcpy(hello, bytes, sizeof(*hello));
    return !memcmp(hello->purpose, WIRE_PURPOSE, sizeof(WIRE_PURPOSE)) &&
           matches_step(wanted, hello) && hello->node_count <= WIRE_NODES_MAX &&
           hello->node < hello->node_count && hello->task_count <= WIRE_TASKS_MAX &&
           (!hello->rank_count || hello->rank_count == hello->task_count) &&
           length == sizeof(*hello) + hello->rank_count * sizeof(uint32_t) &&
           are_ranks((const char *)bytes + sizeof(*hello), hello->rank_count);
}
