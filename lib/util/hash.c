/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/hash.h"

#include <string.h>

static uint64_t add_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

uint64_t nuioa_hash(uint64_t hash, const void *bytes, size_t length)
{
    for (const unsigned char *byte = bytes; length; length--)
        hash = add_byte(hash, *byte++);
    return hash;
}

uint64_t nuioa_hash_text(uint64_t hash, const char *text)
{
    return nuioa_hash(hash, text, strlen(text) + 1);
}

uint64_t nuioa_hash_u32(uint64_t hash, uint32_t number)
{
    for (unsigned i = 0; i < sizeof(number); i++, number >>= 8)
        hash = add_byte(hash, (unsigned char)number);
    return hash;
}
