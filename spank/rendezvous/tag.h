/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_TAG_H
#define SPANK_RENDEZVOUS_TAG_H

#include <stdbool.h>
#include <stddef.h>

#include "spank/rendezvous/sha256.h"
#include "spank/rendezvous/wire.h"

/* Session keys, and the tags that authenticate each message (wire.h). */

/* Sets *session to the session key, derived from the step's key and the job, step, node and nonce
 * of *hello. It is the key of all messages but a node's first. The caller clears it at the end with
 * explicit_bzero(). */
void tag_session(struct hmac_key *session, const struct hmac_key *step,
                 const struct wire_hello *hello);

/* Writes the tag of one message to `tag`. `from` is the side that sends it: WIRE_FROM_NODE or
 * WIRE_FROM_SRUN. `digest` is the SHA-256 of the body, so that a body for many receivers is hashed
 * once. */
void tag_make(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
              const uint8_t digest[SHA256_SIZE], uint8_t tag[WIRE_TAG_SIZE]);

/* Returns true if the tag behind a body is right for a message from the side `from`. The comparison
 * takes the same time wherever the tags differ. `body` has frame->length bytes and then
 * WIRE_TAG_SIZE bytes, the tag. */
bool tag_is_right(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
                  const void *body);

#endif
