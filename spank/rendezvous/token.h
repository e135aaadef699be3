/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_TOKEN_H
#define SPANK_RENDEZVOUS_TOKEN_H

#include <stdbool.h>

#include "spank/rendezvous/wire.h"

/* The value of WIRE_VARIABLE: srun's port and the step's key (wire.h). */

/* Size of "VERSION:AUTH:PORT:KEY" with its NUL. */
#define TOKEN_TEXT_MAX (3 + 1 + 5 + 1 + 5 + 1 + 2 * WIRE_KEY_SIZE + 1)

struct token {
    uint32_t version;           /* of the protocol */
    uint16_t port;              /* srun's TCP port */
    bool encrypted;             /* auth=munge: the hello is encrypted */
    uint8_t key[WIRE_KEY_SIZE]; /* the step's key: a secret, which the owner clears */
};

/* Fills *token with this port, this kind of hello and a random key from the kernel. Returns 0, or
 * -EIO if the kernel gives no random bytes: then *token is not valid. */
int token_make(struct token *token, uint16_t port, bool encrypted);

/* Writes the token to `text`, as the value of WIRE_VARIABLE, with its NUL. */
void token_write(const struct token *token, char text[TOKEN_TEXT_MAX]);

/* Fills *token from `text`, which may be anything. Returns 0; -EPROTONOSUPPORT if the text has
 * another protocol version, and only token->version is valid; or -EINVAL if it is no token, and
 * *token is not valid. */
int token_read(struct token *token, const char *text);

#endif
