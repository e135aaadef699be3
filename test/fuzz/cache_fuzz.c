/* SPDX-License-Identifier: BSD-3-Clause */

/* A whole cache file. The first byte says what the target makes right: 1 the key, which says for
 * which boot, host and devices the file counts; 2 the header behind it; and what it does besides:
 * 4 the next two bytes say which byte is then changed; 8 the site has a distance file. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "payload.h"
#include "topology/cache.h"
#include "unit/machine.h"

enum { KEY = 128, KEY_RIGHT = 1, HEADER_RIGHT = 2, CHANGE = 4, DISTANCES = 8 };

/* Copies the key of a file that nuioa writes here. */
static void copy_key(uint8_t *to)
{
    static uint8_t key[KEY];
    if (!key[0]) {
        struct nuioa_node node;
        struct nuioa_error err;
        machine_quad(&node);
        const char *path = input_file("own", "", 0);
        INPUT_CHECK(!nuioa_cache_write(path, &node, NULL, &err));
        nuioa_node_free(&node);
        FILE *file = fopen(path, "r");
        INPUT_CHECK(file && fread(key, 1, KEY, file) == KEY);
        fclose(file);
    }
    memcpy(to, key, KEY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    unsigned right = input_byte(&input);
    unsigned change = right & CHANGE ? input_below(&input, 65536) : 0;
    const char *distances = right & DISTANCES ? input_file("distances", "", 0) : NULL;
    struct nuioa_node node;
    struct nuioa_error err;
    uint8_t *bytes = input_copy(&input);
    if ((right & KEY_RIGHT) && input.size >= KEY)
        copy_key(bytes);
    if ((right & HEADER_RIGHT) && input.size >= KEY + PAYLOAD_HEADER)
        payload_header(bytes + KEY, bytes + KEY + PAYLOAD_HEADER,
                       input.size - KEY - PAYLOAD_HEADER);
    if ((right & CHANGE) && change < input.size)
        bytes[change] ^= 1;
    const char *path = input_file("cache", bytes, input.size);
    nuioa_cache_read(path, distances, &node, &err);
    nuioa_node_free(&node);
    nuioa_cache_read_former(path, &node, &err);
    nuioa_node_free(&node);
    free(bytes);
    return 0;
}
