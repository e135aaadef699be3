/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "spank/rendezvous/after_step.h"
#include "spank/rendezvous/counters.h"
#include "topology/nic.h"

/* The counters of the nodes, and what srun prints of them. The input is one or more messages, each
 * after a byte of flags and two bytes with its length. With MANY a byte follows: so many nodes have
 * sent this message. */

enum { RIGHT = 1, MANY = 2, EXPECTED = 4, NODES_MAX = 100 };

/* Makes all right but the numbers that may have any value: a single wrong one makes the reader
 * refuse a message. */
static void make_right(struct counters *c, size_t length)
{
    if (length < sizeof(c->head))
        return;
    c->head.nic_count = (uint32_t)((length - sizeof(c->head)) / sizeof(*c->nics));
    c->head.others &= 1;
    c->head.farthest = (double)(c->head.time_ms % 100) / 50 - 1;
    for (uint32_t i = 0; i < c->head.nic_count && i < WIRE_NICS_MAX; i++) {
        struct wire_counter *nic = &c->nics[i];
        nic->label[sizeof(nic->label) - 1] = '\0';
        for (char *letter = nic->label; *letter; letter++)
            *letter = (char)('!' + (unsigned char)*letter % 94);
        if (!*nic->label)
            nic->label[0] = 'x';
        nic->kind %= NUIOA_NIC_KINDS;
        nic->unknown %= WIRE_UNKNOWNS;
        nic->planned = (double)(nic->zero % 101) / 100;
        nic->received >>= 8;
        nic->sent >>= 8;
    }
}

static uint32_t add(struct after_step *after, struct input *in, uint32_t node)
{
    uint8_t flags = input_byte(in);
    uint32_t count = flags & MANY ? input_byte(in) : 1;
    size_t length = input_below(in, 65536);
    struct counters *bytes = input_block(in, &length), counters;
    if (flags & RIGHT && length <= sizeof(*bytes)) {
        length -= length < sizeof(bytes->head)
                      ? 0
                      : (length - sizeof(bytes->head)) % sizeof(*bytes->nics);
        make_right(bytes, length);
    }
    bool good = !counters_read(bytes, length, &counters);
    for (uint32_t i = 0; i < count && node + i < NODES_MAX; i++) {
        if (flags & EXPECTED)
            after_step_expect(after, node + i, i % 2 ? "node" : "other");
        counters.head.node = node + i;
        if (good)
            after_step_add(after, &counters);
    }
    free(bytes);
    return count ? count : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct after_step *after = after_step_new();
    for (uint32_t node = 0; in.size && node < NODES_MAX;)
        node += add(after, &in, node);
    char *text = after_step_text(after);
    for (const char *line = text; line && *line; line = strchr(line, '\n') + 1)
        INPUT_CHECK(strcspn(line, "\n") <= 100);
    free(text);
    after_step_free(after);
    return 0;
}
