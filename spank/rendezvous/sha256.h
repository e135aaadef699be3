/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SHA256_H
#define SPANK_RENDEZVOUS_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), so that no crypto library has to live in
 * slurmstepd. */

#define SHA256_SIZE 32
#define SHA256_BLOCK 64

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    uint8_t block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t length);
void sha256_end(struct sha256 *sha, uint8_t digest[SHA256_SIZE]);

/* All three in one. `bytes` may be NULL if `length` is 0. */
void sha256_of(const void *bytes, size_t length, uint8_t digest[SHA256_SIZE]);

/* A key that is ready for use. It is as secret as the key itself. */
struct hmac_key {
    uint32_t inner[8], outer[8];
};

void hmac_key_set(struct hmac_key *key, const void *bytes, size_t length);
void hmac_sha256(const struct hmac_key *key, const void *bytes, size_t length,
                 uint8_t tag[SHA256_SIZE]);

#endif
