/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/credential.h"

#include <dlfcn.h>
#include <errno.h>
#include <munge.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libmunge.so.2"

/* The functions of libmunge, as munge(3) describes them. */
#define FUNCTIONS(DO) \
    DO(ctx_create) \
    DO(ctx_destroy) DO(ctx_strerror) DO(ctx_get) DO(ctx_set) DO(encode) DO(decode) DO(strerror)

static struct {
#define MEMBER(name) __typeof__(munge_##name) *name;
    FUNCTIONS(MEMBER)
} lib;

/* The library is loaded only when MUNGE is needed, because sites whose Slurm authenticates in
 * another way may not have it; and by its fixed name: in slurmstepd the user cannot influence where
 * the dynamic linker finds it, which uses the environment in which the program began, slurmd's. It
 * is never unloaded, and children that are forked later have it, too. */
static bool load(void)
{
    static const struct {
        const char *name;
        void *to;
    } functions[] = {
#define ROW(name) { "munge_" #name, &lib.name },
        FUNCTIONS(ROW)
    };
    static bool loaded;
    void *library = loaded ? NULL : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    for (unsigned i = 0; library && i < sizeof(functions) / sizeof(*functions); i++) {
        void *function = dlsym(library, functions[i].name);
        memcpy(functions[i].to, &function, sizeof(function));
        library = function ? library : NULL;
    }
    return loaded = loaded || library;
}

/* Makes a context of libmunge for `socket`. Returns 0, or negative with *err. */
static int open_munge(munge_ctx_t *m, const char *socket, struct nuioa_error *err)
{
    if (!load()) {
        const char *why = dlerror();
        return nuioa_fail(err, -ENOENT, "MUNGE: %.120s; install it (Debian: libmunge2)",
                          why ? why : LIBRARY " cannot be used");
    }
    *m = lib.ctx_create();
    if (*m && (!*socket || lib.ctx_set(*m, MUNGE_OPT_SOCKET, socket) == EMUNGE_SUCCESS))
        return 0;
    lib.ctx_destroy(*m);
    return nuioa_fail(err, -ENOMEM, "MUNGE: out of memory");
}

/* Returns -EIO if munged has failed, -EBADMSG if what was sent is no credential, -EACCES if it is a
 * wrong one, with *err. */
static int fail(munge_ctx_t m, munge_err_t code, struct nuioa_error *err)
{
    const char *text = lib.ctx_strerror(m), *remedy = "";
    int rc = -EACCES;
    if (code == EMUNGE_SNAFU || code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT)
        rc = -EIO;
    else if (code == EMUNGE_BAD_CRED)
        rc = -EBADMSG;
    else if (code == EMUNGE_CRED_EXPIRED || code == EMUNGE_CRED_REWOUND)
        remedy = "; synchronize the clocks of all hosts";
    else if (code == EMUNGE_CRED_INVALID)
        remedy = "; install the same munge.key on all hosts";
    return nuioa_fail(err, rc, "MUNGE: %s%s", text ? text : lib.strerror(code), remedy);
}

int credential_ready(const char *socket, struct nuioa_error *err)
{
    munge_ctx_t m;
    const char *path = NULL;
    int rc = open_munge(&m, socket, err);
    if (rc < 0)
        return rc;
    lib.ctx_get(m, MUNGE_OPT_SOCKET, &path);
    if (path && *path == '/' && access(path, F_OK) < 0)
        rc = nuioa_fail(err, -EIO, "MUNGE: %.100s: %s; start munged on this host", path,
                        strerror(errno));
    lib.ctx_destroy(m);
    return rc;
}

static munge_err_t encode(munge_ctx_t m, const void *bytes, size_t length, char **credential)
{
    munge_err_t code = lib.ctx_set(m, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128);
    code = code ? code : lib.ctx_set(m, MUNGE_OPT_UID_RESTRICTION, geteuid());
    code = code ? code : lib.ctx_set(m, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_ZLIB);
    code = code ? code : lib.encode(credential, m, bytes, (int)length);
    if (code != EMUNGE_BAD_ZIP) /* munged may be built without zlib */
        return code;
    lib.ctx_set(m, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_NONE);
    return lib.encode(credential, m, bytes, (int)length);
}

int credential_make(const char *socket, const void *bytes, size_t length, char **credential,
                    struct nuioa_error *err)
{
    munge_ctx_t m;
    *credential = NULL;
    if (geteuid() == 0)
        return nuioa_fail(err, -EPERM, "MUNGE: root's jobs send no record");
    int rc = open_munge(&m, socket, err);
    if (rc < 0)
        return rc;
    munge_err_t code = encode(m, bytes, length, credential);
    rc = code == EMUNGE_SUCCESS ? 0 : fail(m, code, err);
    lib.ctx_destroy(m);
    return rc;
}

/* --- decoding --- */

/* Checks that only `uid` could read what was in the credential. */
static int check(munge_ctx_t m, uid_t uid, struct nuioa_error *err)
{
    int cipher = MUNGE_CIPHER_NONE;
    uid_t reader = MUNGE_UID_ANY;
    lib.ctx_get(m, MUNGE_OPT_CIPHER_TYPE, &cipher);
    lib.ctx_get(m, MUNGE_OPT_UID_RESTRICTION, &reader);
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
    munge_ctx_t m;
    gid_t gid;
    int got = 0;
    *bytes = NULL;
    *length = 0;
    int rc = open_munge(&m, socket, err);
    if (rc < 0)
        return rc;
    munge_err_t code = lib.decode(credential, m, bytes, &got, uid, &gid);
    rc = code == EMUNGE_SUCCESS ? check(m, *uid, err) : fail(m, code, err);
    lib.ctx_destroy(m);
    if (rc < 0) {
        free(*bytes); /* libmunge also returns the bytes of refused credentials */
        *bytes = NULL;
    } else {
        *length = (size_t)got;
    }
    return rc;
}
