#ifndef SPANK_RENDEZVOUS_TOKEN_H
#define SPANK_RENDEZVOUS_TOKEN_H

#include <stdbool.h>

#include "spank/rendezvous/wire.h"

/* What WIRE_VARIABLE says: where srun listens and by what its nodes know it (wire.h). */

/* "VERSION:AUTH:PORT:KEY" and its NUL. */
#define INVITATION_TEXT_MAX (3 + 1 + 5 + 1 + 5 + 1 + 2 * WIRE_KEY_SIZE + 1)

struct invitation {
    uint16_t port;
    bool sealed; /* auth=munge */
    uint8_t key[WIRE_KEY_SIZE];
};

/* With a key that nobody can guess. 0 or -EIO. */
int invitation_make(struct invitation *invitation, uint16_t port, bool sealed);

void invitation_write(const struct invitation *invitation, char text[INVITATION_TEXT_MAX]);

/* 0, -EPROTONOSUPPORT if it is another version's, or -EINVAL, whatever the text. */
int invitation_read(struct invitation *invitation, const char *text);

#endif
