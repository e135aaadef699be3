/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/counters.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "topology/nic.h"

_Static_assert(offsetof(struct counters, nics) == sizeof(struct wire_counters),
               "the struct is a message as it is");

/* Sums of bytes, of all NICs and of both directions, stay below 2^63. */
#define BYTES_MAX (UINT64_MAX / (4 * WIRE_NICS_MAX))

size_t counters_length(const struct counters *c)
{
    return sizeof(c->head) + c->head.nic_count * sizeof(*c->nics);
}

static bool is_label(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    for (size_t i = 0; i < length; i++)
        if (!isgraph((unsigned char)text[i]))
            return false;
    return length && length < size;
}

static bool is_nic(const struct wire_counter *nic)
{
    return is_label(nic->label, sizeof(nic->label)) && nic->kind < NUIOA_NIC_KINDS &&
           nic->planned >= 0 && nic->planned <= 1 && nic->unknown < WIRE_UNKNOWNS &&
           nic->received <= BYTES_MAX && nic->sent <= BYTES_MAX;
}

int counters_read(const void *bytes, size_t length, struct counters *c)
{
    if (length < sizeof(c->head))
        return -EINVAL;
    memcpy(&c->head, bytes, sizeof(c->head));
    if (c->head.nic_count > WIRE_NICS_MAX || length != counters_length(c) || c->head.others > 1 ||
        !isfinite(c->head.farthest))
        return -EINVAL;
    memcpy(c->nics, (const char *)bytes + sizeof(c->head), length - sizeof(c->head));
    for (uint32_t i = 0; i < c->head.nic_count; i++)
        if (!is_nic(&c->nics[i]))
            return -EINVAL;
    return 0;
}
