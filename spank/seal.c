#include "seal.h"

#include <errno.h>
#include <grp.h>
#include <munge.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int no_context(struct nuioa_error *err)
{
    return nuioa_fail(err, -ENOMEM, "MUNGE: out of memory");
}

/* -EIO: munged; -EACCES: the credential. */
static int fail(struct nuioa_error *err, munge_ctx_t context, munge_err_t code)
{
    const char *text = munge_ctx_strerror(context);
    bool ours = code == EMUNGE_SNAFU || code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT;
    return nuioa_fail(err, ours ? -EIO : -EACCES, "MUNGE: %s", text ? text : munge_strerror(code));
}

static munge_ctx_t context_new(const char *socket)
{
    munge_ctx_t context = munge_ctx_create();
    if (context && *socket && munge_ctx_set(context, MUNGE_OPT_SOCKET, socket) != EMUNGE_SUCCESS) {
        munge_ctx_destroy(context);
        return NULL;
    }
    return context;
}

int seal_make(const char *socket, uid_t reader, const void *bytes, size_t length, char **credential,
              struct nuioa_error *err)
{
    munge_ctx_t context = context_new(socket);
    *credential = NULL;
    if (!context)
        return no_context(err);
    munge_err_t code = munge_ctx_set(context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128);
    if (code == EMUNGE_SUCCESS)
        code = munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, reader);
    if (code == EMUNGE_SUCCESS)
        code = munge_encode(credential, context, bytes, (int)length);
    int rc = code == EMUNGE_SUCCESS ? 0 : fail(err, context, code);
    munge_ctx_destroy(context);
    return rc;
}

/* --- as the user -------------------------------------------------------------------------------------- */

/* For good, so that nothing here can be root's. */
static int become(uid_t uid, gid_t gid)
{
    uid_t real, effective, saved;
    if (geteuid() != 0 && getuid() == 0 && seteuid(0) < 0)
        return -errno;
    if (geteuid() == 0 && setgroups(0, NULL) < 0)
        return -errno;
    if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0 ||
        getresuid(&real, &effective, &saved) < 0)
        return -errno;
    return real == uid && effective == uid && saved == uid ? 0 : -EPERM;
}

int seal_as(const char *socket, uid_t uid, gid_t gid, const void *bytes, size_t length, char **credential,
            struct nuioa_error *err)
{
    *credential = NULL;
    if (uid == 0)
        return nuioa_fail(err, -EPERM, "root's jobs are not gathered");
    int rc = become(uid, gid);
    if (rc < 0)
        return nuioa_fail(err, rc, "MUNGE: cannot become the user: %s", strerror(-rc));
    return seal_make(socket, uid, bytes, length, credential, err);
}

/* --- opening ------------------------------------------------------------------------------------------ */

static int check(munge_ctx_t context, uid_t uid, struct nuioa_error *err)
{
    int cipher = MUNGE_CIPHER_NONE;
    uid_t reader = MUNGE_UID_ANY;
    munge_ctx_get(context, MUNGE_OPT_CIPHER_TYPE, &cipher);
    munge_ctx_get(context, MUNGE_OPT_UID_RESTRICTION, &reader);
    if (cipher == MUNGE_CIPHER_NONE)
        return nuioa_fail(err, -EACCES, "a credential that is not encrypted");
    if (reader != uid)
        return nuioa_fail(err, -EACCES, "a credential that others may read too");
    return 0;
}

int seal_open(const char *socket, const char *credential, uid_t *uid, void **bytes, size_t *length,
              struct nuioa_error *err)
{
    munge_ctx_t context = context_new(socket);
    gid_t gid;
    int got = 0;
    *bytes = NULL;
    *length = 0;
    if (!context)
        return no_context(err);
    munge_err_t code = munge_decode(credential, context, bytes, &got, uid, &gid);
    int rc = code == EMUNGE_SUCCESS ? check(context, *uid, err) : fail(err, context, code);
    munge_ctx_destroy(context);
    if (rc < 0) {
        free(*bytes); /* MUNGE also gives those of refused ones */
        *bytes = NULL;
        return rc;
    }
    *length = (size_t)got;
    return 0;
}
