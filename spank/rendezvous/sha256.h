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

/* A digest that is being computed. It owns nothing. */
struct sha256 {
    uint32_t state[8];
    uint64_t length;             /* number of bytes added so far */
    uint8_t block[SHA256_BLOCK]; /* the last bytes, which do not fill a block yet */
};

/* Begins a digest: sets *sha to that of no bytes. */
void sha256_begin(struct sha256 *sha);

/* Adds `length` bytes to the digest. `bytes` may be NULL if `length` is 0. */
void sha256_add(struct sha256 *sha, const void *bytes, size_t length);

/* Writes the digest of all bytes that were added to `digest`. *sha can then only be used again with
 * sha256_begin(). */
void sha256_end(struct sha256 *sha, uint8_t digest[SHA256_SIZE]);

/* Writes the digest of bytes[length] to `digest`. `bytes` may be NULL if `length` is 0. */
void sha256_of(const void *bytes, size_t length, uint8_t digest[SHA256_SIZE]);

/* A prepared key: the SHA-256 states after the inner and the outer padded key. It is as secret as
 * the key itself: the owner clears it with explicit_bzero(). */
struct hmac_key {
    uint32_t inner[8], outer[8];
};

/* Prepares *key from the key bytes[length], which may have any length and is copied. */
void hmac_key_set(struct hmac_key *key, const void *bytes, size_t length);

/* Writes the HMAC-SHA-256 of bytes[length] under the prepared key to `tag`. */
void hmac_sha256(const struct hmac_key *key, const void *bytes, size_t length,
                 uint8_t tag[SHA256_SIZE]);

#endif
