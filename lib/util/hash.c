/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/hash.h"

#include <string.h>

uint64_t nuioa_hash(uint64_t hash, const void *bytes, size_t length)
{
    for (const unsigned char *byte = bytes; length; length--)
        hash = (hash ^ *byte++) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t nuioa_hash_text(uint64_t hash, const char *text)
{
    return nuioa_hash(hash, text, strlen(text) + 1);
}

uint64_t nuioa_hash_u32(uint64_t hash, uint32_t number)
{
    const unsigned char bytes[] = { number & 0xff, number >> 8 & 0xff, number >> 16 & 0xff,
                                    number >> 24 };
    return nuioa_hash(hash, bytes, sizeof(bytes));
}
