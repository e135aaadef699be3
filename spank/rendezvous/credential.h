/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_CREDENTIAL_H
#define SPANK_RENDEZVOUS_CREDENTIAL_H

#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

/* Encrypted MUNGE credentials that only one user can decode. Without munged a call takes seconds,
 * with a stopped one more: a caller that cannot wait uses a child process.
 *
 * credential.c defines these functions; in a build without MUNGE credential_none.c does, and all of
 * them fail with -EIO. `socket` is munged's, "" the default one. *err says what to do. */

/* Checks that this host has libmunge. Returns 0, or -EIO with *err. */
int credential_ready(struct nuioa_error *err);

/* Changes the process to the user for good, and makes the user's credential. The process must exist
 * only for this; it waits for munged as long as libmunge does. Returns 0 and *credential (text,
 * malloc'd, caller frees), or negative with *err: -EPERM if the user is root, because a credential
 * of root's could be kept and used elsewhere. */
int credential_make_as(const char *socket, uid_t uid, gid_t gid, const void *bytes, size_t length,
                       char **credential, struct nuioa_error *err);

/* Makes a credential of the process's own user, which only `reader` can decode. It returns as
 * credential_make_as() does. */
int credential_make(const char *socket, uid_t reader, const void *bytes, size_t length,
                    char **credential, struct nuioa_error *err);

/* Decodes a credential in this process. It accepts credentials of all users: *uid is whose it is.
 * It refuses one that was decoded before, is not encrypted, or can be decoded by others than its
 * own user. Returns 0 and *bytes (malloc'd, caller frees; NULL if empty) with their *length, or
 * negative with *err: -EIO if the fault is munged's, -EACCES if it is the credential's. */
int credential_decode(const char *socket, const char *credential, uid_t *uid, void **bytes,
                      size_t *length, struct nuioa_error *err);

#endif
