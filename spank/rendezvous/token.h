/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_TOKEN_H
#define SPANK_RENDEZVOUS_TOKEN_H

#include <stdbool.h>

#include "spank/rendezvous/wire.h"

/* What WIRE_VARIABLE says: where srun listens and by what its nodes know it (wire.h). */

/* "VERSION:AUTH:PORT:KEY" and its NUL. */
#define TOKEN_TEXT_MAX (3 + 1 + 5 + 1 + 5 + 1 + 2 * WIRE_KEY_SIZE + 1)

struct token {
    uint16_t port;
    bool sealed; /* auth=munge */
    uint8_t key[WIRE_KEY_SIZE];
};

/* With a key that nobody can guess. 0 or -EIO. */
int token_make(struct token *token, uint16_t port, bool sealed);

void token_write(const struct token *token, char text[TOKEN_TEXT_MAX]);

/* 0, -EPROTONOSUPPORT if it is another version's, or -EINVAL, whatever the text. */
int token_read(struct token *token, const char *text);

#endif
