/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/sha256.h"

#include <stdbool.h>
#include <string.h>

/* The SHA instructions of x86 processors since about 2017 make hashing for 10,000 nodes negligible
 * for srun. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11 && \
    !defined(SHA256_PORTABLE)
#include <cpuid.h>
#include <immintrin.h>
#define SHA256_INSTRUCTIONS
#endif

/* The constants of FIPS 180-4, section 4.2.2. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static inline uint32_t rotate(uint32_t x, unsigned bits)
{
    return x >> bits | x << (32 - bits);
}

static inline uint32_t read_word(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static void write_words(uint8_t *to, const uint32_t *words)
{
    for (unsigned i = 0; i < SHA256_SIZE; i++)
        to[i] = (uint8_t)(words[i / 4] >> (24 - i % 4 * 8));
}

/* The message schedule, with the round's constant added to each word. */
static void extend(uint32_t w[64], const uint8_t *block)
{
    for (unsigned i = 0; i < 16; i++)
        /* NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result): i is below 16. */
        w[i] = read_word(block + 4 * i);
    for (unsigned i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7] +
               (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
    }
    for (unsigned i = 0; i < 64; i++)
        w[i] += constants[i];
}

/* One round of FIPS 180-4, section 6.2.2, with its variable names. The caller rotates the names
 * instead of moving the values. */
static inline void turn(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                        uint32_t g, uint32_t *h, uint32_t constant_and_word)
{
    uint32_t t1 = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) +
                  constant_and_word;
    *d += t1;
    *h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

static void compress_portably(uint32_t state[8], const uint8_t *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7], w[64];
    extend(w, block);
    for (unsigned t = 0; t < 64; t += 8) {
        turn(a, b, c, &d, e, f, g, &h, w[t]);
        turn(h, a, b, &c, d, e, f, &g, w[t + 1]);
        turn(g, h, a, &b, c, d, e, &f, w[t + 2]);
        turn(f, g, h, &a, b, c, d, &e, w[t + 3]);
        turn(e, f, g, &h, a, b, c, &d, w[t + 4]);
        turn(d, e, f, &g, h, a, b, &c, w[t + 5]);
        turn(c, d, e, &f, g, h, a, &b, w[t + 6]);
        turn(b, c, d, &e, f, g, h, &a, w[t + 7]);
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

#ifdef SHA256_INSTRUCTIONS

/* Performs four rounds; m holds the last 16 words of the schedule. The instructions need the state
 * in the order ABEF, CDGH. */
__attribute__((target("sha,sse4.1"))) static void compress_fast(uint32_t state[8],
                                                                const uint8_t *block)
{
    const __m128i reverse = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i m[4], badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    const __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
    __m128i first = abef, second = cdgh;
    for (unsigned i = 0; i < 16; i++) {
        __m128i *now = &m[i % 4], *last = &m[(i + 3) % 4];
        if (i < 4)
            *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), reverse);
        else
            *now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*now, m[(i + 1) % 4]),
                                                      _mm_alignr_epi8(*last, m[(i + 2) % 4], 4)),
                                        *last);
        __m128i words = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(constants + 4 * i)));
        second = _mm_sha256rnds2_epu32(second, first, words);
        first = _mm_sha256rnds2_epu32(first, second, _mm_shuffle_epi32(words, 0x0e));
    }
    __m128i feba = _mm_shuffle_epi32(_mm_add_epi32(first, abef), 0x1b);
    __m128i dchg = _mm_shuffle_epi32(_mm_add_epi32(second, cdgh), 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* __builtin_cpu_supports would bring 5 KB of tables along, which know every processor. */
static bool has_instructions(void)
{
    static _Atomic int known; /* 1: yes; -1: no */
    unsigned a, b = 0, c = 0, d;
    if (!known)
        known = __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_1 &&
                        __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA
                    ? 1
                    : -1;
    return known > 0;
}

static void compress(uint32_t state[8], const uint8_t *block)
{
    if (has_instructions())
        compress_fast(state, block);
    else
        compress_portably(state, block);
}

#else

static void compress(uint32_t state[8], const uint8_t *block)
{
    compress_portably(state, block);
}

#endif

void sha256_begin(struct sha256 *sha)
{
    memcpy(sha->state, initial, sizeof(initial));
    sha->length = 0;
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;
    while (length) {
        size_t held = sha->length % SHA256_BLOCK, part = SHA256_BLOCK - held;
        if (part > length)
            part = length;
        if (part == SHA256_BLOCK) {
            compress(sha->state, from);
        } else {
            memcpy(sha->block + held, from, part);
            if (held + part == SHA256_BLOCK)
                compress(sha->state, sha->block);
        }
        sha->length += part;
        from += part;
        length -= part;
    }
}

void sha256_end(struct sha256 *sha, uint8_t digest[SHA256_SIZE])
{
    static const uint8_t padding[SHA256_BLOCK] = { 0x80 };
    uint64_t bits = sha->length * 8;
    uint8_t last[8];
    for (unsigned i = 0; i < 8; i++)
        last[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(sha, padding, 1 + (SHA256_BLOCK + 55 - sha->length % SHA256_BLOCK) % SHA256_BLOCK);
    sha256_add(sha, last, sizeof(last));
    write_words(digest, sha->state);
}

void sha256_of(const void *bytes, size_t length, uint8_t digest[SHA256_SIZE])
{
    struct sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, bytes, length);
    sha256_end(&sha, digest);
}

/* --- HMAC --- */

/* Computes the state after the key's block, with which all messages under this key begin. */
static void begin_with(uint32_t state[8], uint8_t block[SHA256_BLOCK], uint8_t pad)
{
    for (unsigned i = 0; i < SHA256_BLOCK; i++)
        block[i] ^= pad;
    memcpy(state, initial, sizeof(initial));
    compress(state, block);
}

void hmac_key_set(struct hmac_key *key, const void *bytes, size_t length)
{
    uint8_t block[SHA256_BLOCK] = { 0 };
    if (length > SHA256_BLOCK)
        sha256_of(bytes, length, block);
    else
        memcpy(block, bytes, length);
    begin_with(key->inner, block, 0x36);
    begin_with(key->outer, block, 0x36 ^ 0x5c);
    explicit_bzero(block, sizeof(block));
}

static void finish_from(const uint32_t state[8], const void *bytes, size_t length, uint8_t *digest)
{
    struct sha256 sha = { .length = SHA256_BLOCK };
    memcpy(sha.state, state, sizeof(sha.state));
    sha256_add(&sha, bytes, length);
    sha256_end(&sha, digest);
}

void hmac_sha256(const struct hmac_key *key, const void *bytes, size_t length,
                 uint8_t tag[SHA256_SIZE])
{
    uint8_t inner[SHA256_SIZE];
    finish_from(key->inner, bytes, length, inner);
    finish_from(key->outer, inner, sizeof(inner), tag);
}
