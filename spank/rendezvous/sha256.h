/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SHA256_H
#define SPANK_RENDEZVOUS_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 (NIST, "Secure Hash Standard", FIPS 180-4, 2015) and HMAC-SHA-256 (H. Krawczyk, M.
 * Bellare, R. Canetti, "HMAC: Keyed-Hashing for Message Authentication", RFC 2104, 1997). They are
 * here so that slurmstepd needs no cryptographic library. Nothing here fails. */

#define SHA256_SIZE 32  /* bytes of a digest */
#define SHA256_BLOCK 64 /* bytes */

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes added so far */
    uint8_t block[SHA256_BLOCK];
};

/* The digest of the bytes of all sha256_add() calls between the two others. */
void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t length);
void sha256_end(struct sha256 *sha, uint8_t digest[SHA256_SIZE]);

/* The digest of these bytes. `bytes` may be NULL if `length` is 0. */
void sha256_of(const void *bytes, size_t length, uint8_t digest[SHA256_SIZE]);

/* A prepared key. It is as secret as the key itself: the owner clears it with explicit_bzero(). */
struct hmac_key {
    uint32_t inner[8], outer[8];
};

/* Prepares a key of `length` bytes, of any length. */
void hmac_key_set(struct hmac_key *key, const void *bytes, size_t length);
/* Computes the tag of the bytes under the key. */
void hmac_sha256(const struct hmac_key *key, const void *bytes, size_t length,
                 uint8_t tag[SHA256_SIZE]);

#endif
