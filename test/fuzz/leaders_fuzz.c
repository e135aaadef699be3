/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "spank/rendezvous/leaders.h"
#include "spank/rendezvous/wire.h"
#include "input.h"

/* The table of all leaders, which slurmstepd reads as root from an srun that belongs to the user.
 * The first two bytes are the number of nodes, the third one says whether the head of the body is
 * made right; the rest is the body. The digest is over the leaders, so no random one is right. */

static uint32_t leaders[WIRE_NODES_MAX];

/* Makes the head right: the step, the numbers of nodes and runs, and the digest of the leaders that
 * the runs have. The reader is called for its leaders, which it writes before it compares them. */
static void make_head(char *body, size_t length, uint32_t count)
{
    struct wire_table table;
    if (length < sizeof(table))
        return;
    table = (struct wire_table){ 7, 0, count, 0, 0 };
    table.run_count = (uint32_t)((length - sizeof(table)) / sizeof(struct wire_run));
    memcpy(body, &table, sizeof(table));
    leaders_parse(body, length, 7, 0, leaders, count);
    table.digest = leaders_digest(7, 0, leaders, count);
    memcpy(body, &table, sizeof(table));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    uint32_t count = input_below(&in, 65536);
    uint8_t right = input_byte(&in);
    size_t length = in.size, made;
    char *body = input_block(&in, &length);
    memset(leaders, 0, count * sizeof(*leaders));
    if (right & 1)
        make_head(body, length, count);
    if (!leaders_parse(body, length, 7, 0, leaders, count)) {
        uint32_t *again = calloc(count, sizeof(*again));
        void *table = leaders_serialize(7, 0, leaders, count, &made);
        if (INPUT_HOLDS(table != NULL) &&
            INPUT_HOLDS(!leaders_parse(table, made, 7, 0, again, count))) {
            INPUT_CHECK(made <= leaders_max(count));
            INPUT_CHECK(!memcmp(again, leaders, count * sizeof(*leaders)));
        }
        free(table);
        free(again);
    }
    free(body);
    return 0;
}
