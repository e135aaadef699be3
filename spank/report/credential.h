/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_CREDENTIAL_H
#define SPANK_REPORT_CREDENTIAL_H

#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

/* Encrypted MUNGE credentials that only one user can decode. None is ever made as root: a
 * credential of root's could be kept and used elsewhere. Without munged a call takes seconds,
 * with a stopped one more: a caller that cannot wait uses a child process. The first call of the
 * process loads libmunge, and not two threads at once may make it.
 *
 * credential.c defines these functions; in a build without MUNGE credential_none.c does, and all of
 * them fail with -EOPNOTSUPP. `socket` is the path of munged's socket, "" for the default one.
 * Errors are -ENOENT if libmunge is missing, -EIO if munged fails, -EACCES if munged or a check
 * refuses the credential, -EBADMSG if it is none, -EPERM if root wants to make one, and -ENOMEM;
 * *err has the reason, which begins with "MUNGE: ". */

/* Checks that this host has libmunge, and the socket, which a container may lack; munged is not
 * asked. Returns 0; or negative with *err, which says what to do. */
int credential_ready(const char *socket, struct nuioa_error *err);

/* Makes a credential of the process's own user, which only he can decode, with bytes[length] in it,
 * compressed where munged can do that. Returns 0 and *credential, a text (malloc'd, caller frees);
 * or negative with *err, and *credential is NULL. */
int credential_make(const char *socket, const void *bytes, size_t length, char **credential,
                    struct nuioa_error *err);

/* Decodes a credential in this process. It accepts credentials of all users: *uid is the user who
 * made it, and the caller checks it. It refuses one that was decoded before, is not encrypted, or
 * can be decoded by others than its own user. Returns 0 and *bytes (malloc'd, caller frees; NULL if
 * empty) with their *length; or negative with *err, and *bytes is NULL and *uid undefined. */
int credential_decode(const char *socket, const char *credential, uid_t *uid, void **bytes,
                      size_t *length, struct nuioa_error *err);

#endif
