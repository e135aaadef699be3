/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "util/number.h"

int token_make(struct token *token, uint16_t port, bool encrypted)
{
    *token = (struct token){ .version = WIRE_VERSION, .port = port, .encrypted = encrypted };
    return getrandom(token->key, WIRE_KEY_SIZE, 0) == WIRE_KEY_SIZE ? 0 : -EIO;
}

void token_write(const struct token *token, char text[TOKEN_TEXT_MAX])
{
    char *to = text + snprintf(text, TOKEN_TEXT_MAX, "%u:%s:%u:", (unsigned)WIRE_VERSION,
                               token->encrypted ? "munge" : "key", token->port);
    for (unsigned i = 0; i < WIRE_KEY_SIZE; i++, to += 2)
        snprintf(to, 3, "%02x", token->key[i]);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the key, which is the rest of the text. */
static int read_key(const char *text, uint8_t *key)
{
    for (unsigned i = 0; i < WIRE_KEY_SIZE; i++, text += 2) {
        int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
        if (low < 0)
            return -EINVAL;
        key[i] = (uint8_t)(high << 4 | low);
    }
    return *text ? -EINVAL : 0;
}

/* Reads a word and the ':' behind it, and moves *text behind both. */
static int read_word(const char **text, char *word, size_t size)
{
    size_t length = strcspn(*text, ":");
    if (length >= size || (*text)[length] != ':')
        return -EINVAL;
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length + 1;
    return 0;
}

int token_read(struct token *token, const char *text)
{
    char version[8], auth[8], port[8];
    uint32_t number;
    memset(token, 0, sizeof(*token));
    if (read_word(&text, version, sizeof(version)) < 0 ||
        nuioa_parse_u32(version, UINT16_MAX, &number) < 0)
        return -EINVAL;
    token->version = number;
    if (number != WIRE_VERSION)
        return -EPROTONOSUPPORT;
    if (read_word(&text, auth, sizeof(auth)) < 0 || read_word(&text, port, sizeof(port)) < 0 ||
        nuioa_parse_u32(port, UINT16_MAX, &number) < 0 || !number)
        return -EINVAL;
    token->port = (uint16_t)number;
    token->encrypted = !strcmp(auth, "munge");
    return token->encrypted || !strcmp(auth, "key") ? read_key(text, token->key) : -EINVAL;
}
