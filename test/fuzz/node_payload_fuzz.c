/* SPDX-License-Identifier: BSD-3-Clause */

/* The description of a node, as the discovering child or the cache hands it over, behind a header
 * that is right. What is accepted is written again. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "topology/node_serialize.h"
#include "util/hash.h"

/* The header of node_serialize.c: length and sum are its last 16 bytes. */
enum { HEADER = 56 };

static void make_header(uint8_t *header, const uint8_t *payload, uint64_t length)
{
    struct nuioa_node empty;
    void *bytes;
    size_t size;
    memset(&empty, 0, sizeof(empty));
    INPUT_CHECK(!nuioa_node_serialize(&empty, &bytes, &size) && size > HEADER);
    memcpy(header, bytes, HEADER);
    free(bytes);
    uint64_t sum = nuioa_hash(NUIOA_HASH_START, payload, length);
    memcpy(header + HEADER - 16, &length, 8);
    memcpy(header + HEADER - 8, &sum, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nuioa_node node, again;
    uint8_t *bytes = malloc(HEADER + size);
    INPUT_CHECK(bytes != NULL);
    memcpy(bytes + HEADER, data, size);
    make_header(bytes, data, size);
    if (!nuioa_node_deserialize(&node, bytes, HEADER + size, NULL)) {
        void *written;
        size_t length;
        INPUT_CHECK(!nuioa_node_serialize(&node, &written, &length));
        INPUT_CHECK(!nuioa_node_deserialize(&again, written, length, NULL));
        nuioa_node_free(&again);
        free(written);
    }
    nuioa_node_free(&node);
    free(bytes);
    return 0;
}
