/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/tag.h"

#include <string.h>

void tag_session(struct hmac_key *session, const struct hmac_key *step,
                 const struct wire_hello *hello)
{
    uint8_t key[SHA256_SIZE];
    struct wire_session of = { WIRE_SESSION, hello->job_id, hello->step_id, hello->node, { 0 } };
    memcpy(of.nonce, hello->nonce, sizeof(of.nonce));
    hmac_sha256(step, &of, sizeof(of), key);
    hmac_key_set(session, key, sizeof(key));
    explicit_bzero(key, sizeof(key));
    explicit_bzero(&of, sizeof(of));
}

void tag_make(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
              const uint8_t digest[SHA256_SIZE], uint8_t tag[WIRE_TAG_SIZE])
{
    struct wire_tagged tagged = { from, *frame, { 0 } };
    memcpy(tagged.body, digest, sizeof(tagged.body));
    hmac_sha256(key, &tagged, sizeof(tagged), tag);
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, size_t length)
{
    volatile uint8_t differs = 0;
    while (length--)
        differs |= *a++ ^ *b++;
    return !differs;
}

bool tag_is_right(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
                  const void *body)
{
    uint8_t digest[SHA256_SIZE], tag[WIRE_TAG_SIZE];
    sha256_of(body, frame->length, digest);
    tag_make(key, from, frame, digest, tag);
    return same_bytes(tag, (const uint8_t *)body + frame->length, WIRE_TAG_SIZE);
}
