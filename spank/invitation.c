#include "invitation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "number.h"

int invitation_make(struct invitation *invitation, uint16_t port, bool sealed)
{
    *invitation = (struct invitation){ .port = port, .sealed = sealed };
    if (getrandom(invitation->key, WIRE_KEY_SIZE, 0) != WIRE_KEY_SIZE ||
        (!sealed && getrandom(invitation->answer, WIRE_KEY_SIZE, 0) != WIRE_KEY_SIZE))
        return -EIO;
    return 0;
}

static char *write_key(char *to, const uint8_t *key)
{
    *to++ = ':';
    for (unsigned i = 0; i < WIRE_KEY_SIZE; i++, to += 2)
        snprintf(to, 3, "%02x", key[i]);
    return to;
}

void invitation_write(const struct invitation *invitation, char text[INVITATION_TEXT_MAX])
{
    char *to = write_key(text + snprintf(text, INVITATION_TEXT_MAX, "%u", invitation->port), invitation->key);
    if (!invitation->sealed)
        write_key(to, invitation->answer);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ":KEY" and what follows it; NULL: no key. */
static const char *read_key(const char *text, uint8_t *key)
{
    if (*text++ != ':')
        return NULL;
    for (unsigned i = 0; i < WIRE_KEY_SIZE; i++, text += 2) {
        int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
        if (low < 0)
            return NULL;
        key[i] = (uint8_t)(high << 4 | low);
    }
    return text;
}

static int read_port(const char *text, size_t length, uint16_t *port)
{
    char number[8];
    uint32_t value;
    if (length >= sizeof(number))
        return -EINVAL;
    memcpy(number, text, length);
    number[length] = '\0';
    if (nuioa_parse_u32(number, UINT16_MAX, &value) < 0 || !value)
        return -EINVAL;
    *port = (uint16_t)value;
    return 0;
}

int invitation_read(struct invitation *invitation, const char *text)
{
    size_t length = strcspn(text, ":");
    memset(invitation, 0, sizeof(*invitation));
    if (read_port(text, length, &invitation->port) < 0)
        return -EINVAL;
    const char *end = read_key(text + length, invitation->key);
    invitation->sealed = end && !*end;
    if (end && *end)
        end = read_key(end, invitation->answer);
    return end && !*end ? 0 : -EINVAL;
}
