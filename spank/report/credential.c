/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/credential.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/report/libmunge.h"

/* Makes a context of libmunge for `socket`. Returns 0 and *munge, or negative with *err. */
static int open_munge(const struct libmunge **munge, munge_ctx_t *context, const char *socket,
                      struct nuioa_error *err)
{
    const struct libmunge *m = *munge = libmunge_open(err);
    if (!m)
        return -EIO;
    *context = m->ctx_create();
    if (*context && (!*socket || m->ctx_set(*context, MUNGE_OPT_SOCKET, socket) == EMUNGE_SUCCESS))
        return 0;
    m->ctx_destroy(*context);
    return nuioa_fail(err, -ENOMEM, "MUNGE: out of memory");
}

/* Returns -EIO if munged has failed, -EBADMSG if what was sent is no credential, -EACCES if it is a
 * wrong one, with *err. */
static int fail(const struct libmunge *munge, munge_ctx_t context, munge_err_t code,
                struct nuioa_error *err)
{
    const char *text = munge->ctx_strerror(context);
    bool ours = code == EMUNGE_SNAFU || code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT;
    const char *remedy = code == EMUNGE_CRED_EXPIRED || code == EMUNGE_CRED_REWOUND
                             ? "; synchronize the clocks of all hosts"
                         : code == EMUNGE_CRED_INVALID ? "; install the same munge.key on all hosts"
                                                       : "";
    return nuioa_fail(err,
                      ours                      ? -EIO
                      : code == EMUNGE_BAD_CRED ? -EBADMSG
                                                : -EACCES,
                      "MUNGE: %s%s", text ? text : munge->strerror(code), remedy);
}

int credential_ready(const char *socket, struct nuioa_error *err)
{
    const struct libmunge *munge;
    munge_ctx_t context;
    const char *path = NULL;
    int rc = open_munge(&munge, &context, socket, err);
    if (rc < 0)
        return rc;
    munge->ctx_get(context, MUNGE_OPT_SOCKET, &path);
    if (path && *path == '/' && access(path, F_OK) < 0)
        rc = nuioa_fail(err, -EIO, "MUNGE: %.100s: %s; start munged on this host", path,
                        strerror(errno));
    munge->ctx_destroy(context);
    return rc;
}

static munge_err_t encode(const struct libmunge *munge, munge_ctx_t context, const void *bytes,
                          size_t length, char **credential)
{
    munge_err_t code = munge->ctx_set(context, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_ZLIB);
    if (code == EMUNGE_SUCCESS)
        code = munge->encode(credential, context, bytes, (int)length);
    if (code != EMUNGE_BAD_ZIP) /* munged may be built without zlib */
        return code;
    munge->ctx_set(context, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_NONE);
    return munge->encode(credential, context, bytes, (int)length);
}

int credential_make(const char *socket, uid_t reader, const void *bytes, size_t length,
                    char **credential, struct nuioa_error *err)
{
    const struct libmunge *munge;
    munge_ctx_t context;
    *credential = NULL;
    if (geteuid() == 0)
        return nuioa_fail(err, -EPERM, "MUNGE: root's jobs send no record");
    int rc = open_munge(&munge, &context, socket, err);
    if (rc < 0)
        return rc;
    munge_err_t code = munge->ctx_set(context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128);
    if (code == EMUNGE_SUCCESS)
        code = munge->ctx_set(context, MUNGE_OPT_UID_RESTRICTION, reader);
    if (code == EMUNGE_SUCCESS)
        code = encode(munge, context, bytes, length, credential);
    rc = code == EMUNGE_SUCCESS ? 0 : fail(munge, context, code, err);
    munge->ctx_destroy(context);
    return rc;
}

/* --- decoding --- */

static int check(const struct libmunge *munge, munge_ctx_t context, uid_t uid,
                 struct nuioa_error *err)
{
    int cipher = MUNGE_CIPHER_NONE;
    uid_t reader = MUNGE_UID_ANY;
    munge->ctx_get(context, MUNGE_OPT_CIPHER_TYPE, &cipher);
    munge->ctx_get(context, MUNGE_OPT_UID_RESTRICTION, &reader);
    if (cipher == MUNGE_CIPHER_NONE)
        return nuioa_fail(err, -EACCES, "MUNGE: a credential is refused: it is not encrypted");
    if (reader != uid)
        return nuioa_fail(err, -EACCES,
                          "MUNGE: a credential is refused: other users can decode it");
    return 0;
}

int credential_decode(const char *socket, const char *credential, uid_t *uid, void **bytes,
                      size_t *length, struct nuioa_error *err)
{
    const struct libmunge *munge;
    munge_ctx_t context;
    gid_t gid;
    int got = 0;
    *bytes = NULL;
    *length = 0;
    int rc = open_munge(&munge, &context, socket, err);
    if (rc < 0)
        return rc;
    munge_err_t code = munge->decode(credential, context, bytes, &got, uid, &gid);
    rc =
        code == EMUNGE_SUCCESS ? check(munge, context, *uid, err) : fail(munge, context, code, err);
    munge->ctx_destroy(context);
    if (rc < 0) {
        free(*bytes); /* libmunge also returns the bytes of refused credentials */
        *bytes = NULL;
        return rc;
    }
    *length = (size_t)got;
    return 0;
}
