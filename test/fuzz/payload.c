/* SPDX-License-Identifier: BSD-3-Clause */
#include "payload.h"

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "topology/node_serialize.h"
#include "util/hash.h"

void payload_header(uint8_t header[PAYLOAD_HEADER], const uint8_t *payload, uint64_t length)
{
    static uint8_t own[PAYLOAD_HEADER]; /* of this build */
    if (!own[0]) {
        struct nuioa_node empty;
        void *bytes;
        size_t size;
        memset(&empty, 0, sizeof(empty));
        INPUT_CHECK(!nuioa_node_serialize(&empty, &bytes, &size) && size > PAYLOAD_HEADER);
        memcpy(own, bytes, PAYLOAD_HEADER);
        free(bytes);
    }
    /* The last 16 bytes are length and sum of what follows. */
    uint64_t sum = nuioa_hash(NUIOA_HASH_START, payload, length);
    memcpy(header, own, PAYLOAD_HEADER - 16);
    memcpy(header + PAYLOAD_HEADER - 16, &length, 8);
    memcpy(header + PAYLOAD_HEADER - 8, &sum, 8);
}

int payload_read(struct nuioa_node *node, const uint8_t *payload, size_t length)
{
    struct nuioa_error err;
    uint8_t *bytes = malloc(PAYLOAD_HEADER + length);
    INPUT_CHECK(bytes != NULL);
    if (length)
        memcpy(bytes + PAYLOAD_HEADER, payload, length);
    payload_header(bytes, payload, length);
    int rc = nuioa_node_deserialize(node, bytes, PAYLOAD_HEADER + length, &err);
    free(bytes);
    return rc;
}
