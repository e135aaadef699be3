/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_TAG_H
#define SPANK_RENDEZVOUS_TAG_H

#include <stdbool.h>
#include <stddef.h>

#include "spank/rendezvous/sha256.h"
#include "spank/rendezvous/wire.h"

/* By what each message shows that one of the two has said it, and all of it (wire.h). */

/* The key of all messages but a node's first. */
void tag_session(struct hmac_key *session, const struct hmac_key *step,
                 const struct wire_hello *hello);

/* `digest`: the body's SHA-256, which is the same for all whom it is sent to. */
void tag_make(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
              const uint8_t digest[SHA256_SIZE], uint8_t tag[WIRE_TAG_SIZE]);

/* Whether the tag behind a body is right; in a time that does not say where it differs. `body` has
 * the frame's length and WIRE_TAG_SIZE more bytes. */
bool tag_is_right(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
                  const void *body);

#endif
