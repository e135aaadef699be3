/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <munge.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"

/* A credential of this stand-in is "MUNGE:", the user's and the reader's number, and the bytes in
 * hexadecimal. There is no secret in it: what is tested is who asks for what. */

struct munge_ctx {
    uid_t reader;
    int cipher;
};

munge_ctx_t munge_ctx_create(void)
{
    return fault_hits(FAULT_MUNGE, ENOMEM) ? NULL : calloc(1, sizeof(struct munge_ctx));
}

void munge_ctx_destroy(munge_ctx_t context)
{
    free(context);
}

const char *munge_ctx_strerror(munge_ctx_t context)
{
    (void)context;
    return NULL;
}

const char *munge_strerror(munge_err_t code)
{
    return code == EMUNGE_SUCCESS ? "Success" : "Failed to access socket";
}

munge_err_t munge_ctx_set(munge_ctx_t context, int option, ...)
{
    va_list args;
    if (fault_hits(FAULT_MUNGE, 0))
        return EMUNGE_SNAFU;
    va_start(args, option);
    if (option == MUNGE_OPT_UID_RESTRICTION)
        context->reader = va_arg(args, uid_t);
    else if (option == MUNGE_OPT_CIPHER_TYPE)
        context->cipher = va_arg(args, int);
    va_end(args);
    return EMUNGE_SUCCESS;
}

munge_err_t munge_ctx_get(munge_ctx_t context, int option, ...)
{
    va_list args;
    if (fault_hits(FAULT_MUNGE, 0))
        return EMUNGE_SNAFU;
    va_start(args, option);
    if (option == MUNGE_OPT_UID_RESTRICTION)
        *va_arg(args, uid_t *) = context->reader;
    else if (option == MUNGE_OPT_CIPHER_TYPE)
        *va_arg(args, int *) = context->cipher;
    va_end(args);
    return EMUNGE_SUCCESS;
}

munge_err_t munge_encode(char **credential, munge_ctx_t context, const void *bytes, int length)
{
    const unsigned char *from = bytes;
    if (fault_hits(FAULT_MUNGE, 0))
        return EMUNGE_SOCKET;
    char *to = *credential = malloc(64 + 2 * (size_t)length);
    if (!to)
        return EMUNGE_NO_MEMORY;
    to += sprintf(to, "MUNGE:%u:%u:", (unsigned)geteuid(), (unsigned)context->reader);
    for (int i = 0; i < length; i++)
        to += sprintf(to, "%02x", from[i]);
    return EMUNGE_SUCCESS;
}

munge_err_t munge_decode(const char *credential, munge_ctx_t context, void **bytes, int *length,
                         uid_t *uid, gid_t *gid)
{
    unsigned from, reader, byte;
    int at = 0;
    if (fault_hits(FAULT_MUNGE, 0))
        return EMUNGE_TIMEOUT;
    if (sscanf(credential, "MUNGE:%u:%u:%n", &from, &reader, &at) < 2 || !at)
        return EMUNGE_BAD_CRED;
    unsigned char *to = *bytes = malloc(strlen(credential));
    if (!to)
        return EMUNGE_NO_MEMORY;
    for (*length = 0; sscanf(credential + at, "%2x", &byte) == 1; at += 2)
        to[(*length)++] = (unsigned char)byte;
    context->reader = reader;
    context->cipher = MUNGE_CIPHER_AES128;
    *uid = from;
    *gid = 0;
    return reader == geteuid() ? EMUNGE_SUCCESS : EMUNGE_CRED_UNAUTHORIZED;
}
