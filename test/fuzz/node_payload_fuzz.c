/* SPDX-License-Identifier: BSD-3-Clause */

/* The fields of a node's description, as the cache or the child that discovers hands them over. The
 * header before them is right. What is accepted can be written and read again. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "payload.h"
#include "topology/node_serialize.h"

static void check_again(const struct nuioa_node *node)
{
    struct nuioa_node again;
    void *bytes, *same;
    size_t length, same_length;
    if (!INPUT_HOLDS(!nuioa_node_serialize(node, &bytes, &length)))
        return;
    if (INPUT_HOLDS(!nuioa_node_deserialize(&again, bytes, length, NULL)) &&
        INPUT_HOLDS(!nuioa_node_serialize(&again, &same, &same_length))) {
        INPUT_CHECK(length == same_length && !memcmp(bytes, same, length));
        free(same);
    }
    nuioa_node_free(&again);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nuioa_node node;
    if (!payload_read(&node, data, size))
        check_again(&node);
    nuioa_node_free(&node);
    return 0;
}
