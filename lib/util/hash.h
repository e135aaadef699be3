/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_HASH_H
#define NUIOA_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The 64-bit FNV-1a hash (Fowler, Noll, Vo: "The FNV Non-Cryptographic Hash Algorithm", Internet
 * draft draft-eastlake-fnv, 2011). It finds differences and damage, but gives no protection
 * against somebody who forges data.
 *
 * A hash begins with NUIOA_HASH_START. Each function returns `hash` continued by one more item, so
 * that calls can be chained. They only read what they are given, and cannot fail. */
#define NUIOA_HASH_START UINT64_C(0xcbf29ce484222325)

/* Returns the hash continued by `length` bytes. */
uint64_t nuioa_hash(uint64_t hash, const void *bytes, size_t length);

/* Returns the hash continued by a text and its final NUL, so that "ab", "c" differs from "a",
 * "bc". */
uint64_t nuioa_hash_text(uint64_t hash, const char *text);

/* Returns the hash continued by the 4 bytes of a number, the lowest first: nodes of different byte
 * order compute the same hash. */
uint64_t nuioa_hash_u32(uint64_t hash, uint32_t number);

#endif
