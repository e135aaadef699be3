#include "hello.h"

#include <string.h>

/* In a time that does not say where they differ. */
static bool same_bytes(const uint8_t *a, const uint8_t *b, size_t length)
{
    uint8_t differs = 0;
    while (length--)
        differs |= *a++ ^ *b++;
    return !differs;
}

static bool is_of_step(const struct hello_wanted *wanted, const struct wire_hello *hello)
{
    return same_bytes(hello->step_key, wanted->key, WIRE_KEY_SIZE) &&
           hello->step_id == wanted->step_id && (wanted->any_job || hello->job_id == wanted->job_id) &&
           (!wanted->node_count || hello->node_count == wanted->node_count);
}

bool hello_read(const struct hello_wanted *wanted, const void *bytes, size_t length, struct wire_hello *hello)
{
    if (length < sizeof(*hello))
        return false;
    memcpy(hello, bytes, sizeof(*hello));
    return !memcmp(hello->purpose, WIRE_PURPOSE, sizeof(WIRE_PURPOSE)) && is_of_step(wanted, hello) &&
           hello->node_count <= WIRE_NODES_MAX && hello->node < hello->node_count &&
           hello->task_count <= WIRE_TASKS_MAX &&
           (!hello->rank_count || hello->rank_count == hello->task_count) &&
           length == sizeof(*hello) + hello->rank_count * sizeof(uint32_t);
}
