/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/credential.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/report/libmunge.h"

struct munge {
    const struct libmunge *lib;
    munge_ctx_t context;
};

/* Makes a context of libmunge for `socket`. Returns 0, or negative with *err. */
static int open_munge(struct munge *m, const char *socket, struct nuioa_error *err)
{
    m->lib = libmunge_open(err);
    if (!m->lib)
        return -EIO;
    m->context = m->lib->ctx_create();
    if (m->context &&
        (!*socket || m->lib->ctx_set(m->context, MUNGE_OPT_SOCKET, socket) == EMUNGE_SUCCESS))
        return 0;
    m->lib->ctx_destroy(m->context);
    return nuioa_fail(err, -ENOMEM, "MUNGE: out of memory");
}

/* Returns -EIO if munged has failed, -EBADMSG if what was sent is no credential, -EACCES if it is a
 * wrong one, with *err. */
static int fail(const struct munge *m, munge_err_t code, struct nuioa_error *err)
{
    const char *text = m->lib->ctx_strerror(m->context), *remedy = "";
    int rc = -EACCES;
    if (code == EMUNGE_SNAFU || code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT)
        rc = -EIO;
    else if (code == EMUNGE_BAD_CRED)
        rc = -EBADMSG;
    else if (code == EMUNGE_CRED_EXPIRED || code == EMUNGE_CRED_REWOUND)
        remedy = "; synchronize the clocks of all hosts";
    else if (code == EMUNGE_CRED_INVALID)
        remedy = "; install the same munge.key on all hosts";
    return nuioa_fail(err, rc, "MUNGE: %s%s", text ? text : m->lib->strerror(code), remedy);
}

int credential_ready(const char *socket, struct nuioa_error *err)
{
    struct munge m;
    const char *path = NULL;
    int rc = open_munge(&m, socket, err);
    if (rc < 0)
        return rc;
    m.lib->ctx_get(m.context, MUNGE_OPT_SOCKET, &path);
    if (path && *path == '/' && access(path, F_OK) < 0)
        rc = nuioa_fail(err, -EIO, "MUNGE: %.100s: %s; start munged on this host", path,
                        strerror(errno));
    m.lib->ctx_destroy(m.context);
    return rc;
}

static munge_err_t encode(const struct munge *m, const void *bytes, size_t length,
                          char **credential)
{
    munge_err_t code = m->lib->ctx_set(m->context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128);
    if (code == EMUNGE_SUCCESS)
        code = m->lib->ctx_set(m->context, MUNGE_OPT_UID_RESTRICTION, geteuid());
    if (code == EMUNGE_SUCCESS)
        code = m->lib->ctx_set(m->context, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_ZLIB);
    if (code == EMUNGE_SUCCESS)
        code = m->lib->encode(credential, m->context, bytes, (int)length);
    if (code != EMUNGE_BAD_ZIP) /* munged may be built without zlib */
        return code;
    m->lib->ctx_set(m->context, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_NONE);
    return m->lib->encode(credential, m->context, bytes, (int)length);
}

int credential_make(const char *socket, const void *bytes, size_t length, char **credential,
                    struct nuioa_error *err)
{
    struct munge m;
    *credential = NULL;
    if (geteuid() == 0)
        return nuioa_fail(err, -EPERM, "MUNGE: root's jobs send no record");
    int rc = open_munge(&m, socket, err);
    if (rc < 0)
        return rc;
    munge_err_t code = encode(&m, bytes, length, credential);
    rc = code == EMUNGE_SUCCESS ? 0 : fail(&m, code, err);
    m.lib->ctx_destroy(m.context);
    return rc;
}

/* --- decoding --- */

/* Checks that only `uid` could read what was in the credential. */
static int check(const struct munge *m, uid_t uid, struct nuioa_error *err)
{
    int cipher = MUNGE_CIPHER_NONE;
    uid_t reader = MUNGE_UID_ANY;
    m->lib->ctx_get(m->context, MUNGE_OPT_CIPHER_TYPE, &cipher);
    m->lib->ctx_get(m->context, MUNGE_OPT_UID_RESTRICTION, &reader);
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
    struct munge m;
    gid_t gid;
    int got = 0;
    *bytes = NULL;
    *length = 0;
    int rc = open_munge(&m, socket, err);
    if (rc < 0)
        return rc;
    munge_err_t code = m.lib->decode(credential, m.context, bytes, &got, uid, &gid);
    rc = code == EMUNGE_SUCCESS ? check(&m, *uid, err) : fail(&m, code, err);
    m.lib->ctx_destroy(m.context);
    if (rc < 0) {
        free(*bytes); /* libmunge also returns the bytes of refused credentials */
        *bytes = NULL;
        return rc;
    }
    *length = (size_t)got;
    return 0;
}
