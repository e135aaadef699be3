/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/credential.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "spank/rendezvous/libmunge.h"

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

/* Returns -EIO if munged has failed, -EACCES if the credential is wrong, with *err. */
static int fail(const struct libmunge *munge, munge_ctx_t context, munge_err_t code,
                struct nuioa_error *err)
{
    const char *text = munge->ctx_strerror(context);
    bool ours = code == EMUNGE_SNAFU || code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT;
    return nuioa_fail(err, ours ? -EIO : -EACCES, "MUNGE: %s", text ? text : munge->strerror(code));
}

int credential_ready(struct nuioa_error *err)
{
    return libmunge_open(err) ? 0 : -EIO;
}

int credential_make(const char *socket, uid_t reader, const void *bytes, size_t length,
                    char **credential, struct nuioa_error *err)
{
    const struct libmunge *munge;
    munge_ctx_t context;
    *credential = NULL;
    int rc = open_munge(&munge, &context, socket, err);
    if (rc < 0)
        return rc;
    munge_err_t code = munge->ctx_set(context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128);
    if (code == EMUNGE_SUCCESS)
        code = munge->ctx_set(context, MUNGE_OPT_UID_RESTRICTION, reader);
    if (code == EMUNGE_SUCCESS)
        code = munge->encode(credential, context, bytes, (int)length);
    rc = code == EMUNGE_SUCCESS ? 0 : fail(munge, context, code, err);
    munge->ctx_destroy(context);
    return rc;
}

/* --- as the user --- */

/* Sets the signal that comes when the parent dies, because a change of user removes it. The parent
 * may have died meanwhile: then -ESRCH. */
static int keep_parent_death_signal(pid_t parent, int signal)
{
    if (signal && prctl(PR_SET_PDEATHSIG, signal) < 0)
        return -errno;
    return getppid() == parent ? 0 : -ESRCH;
}

/* Changes the user and the group for good, and keeps no right of root's. */
static int become_user(uid_t uid, gid_t gid)
{
    uid_t real, effective, saved;
    pid_t parent = getppid();
    int signal = 0;
    if (prctl(PR_GET_PDEATHSIG, &signal) < 0)
        return -errno;
    if (geteuid() != 0 && getuid() == 0 && seteuid(0) < 0)
        return -errno;
    if (geteuid() == 0 && setgroups(0, NULL) < 0)
        return -errno;
    if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0 ||
        getresuid(&real, &effective, &saved) < 0)
        return -errno;
    return real == uid && effective == uid && saved == uid
               ? keep_parent_death_signal(parent, signal)
               : -EPERM;
}

int credential_make_as(const char *socket, uid_t uid, gid_t gid, const void *bytes, size_t length,
                       char **credential, struct nuioa_error *err)
{
    *credential = NULL;
    if (uid == 0)
        return nuioa_fail(err, -EPERM,
                          "MUNGE: root's jobs have no rendezvous: run the job as another user");
    int rc = become_user(uid, gid);
    if (rc < 0)
        return nuioa_fail(err, rc, "MUNGE: cannot become the user: %s", strerror(-rc));
    return credential_make(socket, uid, bytes, length, credential, err);
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
        return nuioa_fail(err, -EACCES, "MUNGE: a credential is not encrypted: it is refused");
    if (reader != uid)
        return nuioa_fail(err, -EACCES,
                          "MUNGE: a credential can be decoded by other users: it is refused");
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
