/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SEAL_H
#define SPANK_RENDEZVOUS_SEAL_H

#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

/* MUNGE credentials of one kind: encrypted, and for the eyes of their own user alone. A dead munged
 * costs seconds, a stopped one more: whoever cannot wait asks a child process. */

/* Whether this host has libmunge. 0, or -EIO with *err, which says what to do. */
int seal_ready(struct nuioa_error *err);

/* Becomes the user for good and seals as him: for a process made for this, which waits for munged
 * as long as libmunge does. `socket` is munged's, "" the default one. 0 and *credential (text,
 * malloc'd, caller frees), or negative with *err: -EPERM if the user is root, for a credential of
 * root's could be kept and used elsewhere. */
int seal_as(const char *socket, uid_t uid, gid_t gid, const void *bytes, size_t length,
            char **credential, struct nuioa_error *err);

/* The same as whoever this process is, for the eyes of `reader`. */
int seal_make(const char *socket, uid_t reader, const void *bytes, size_t length, char **credential,
              struct nuioa_error *err);

/* Opens a credential, in this process. Anyone's is opened: *uid says whose it is. One that was
 * opened before, is not encrypted or is not restricted to its own user is refused. 0 and *bytes
 * (malloc'd, caller frees; NULL if empty), or negative with *err: -EIO if it is munged's fault and
 * not the credential's. */
int seal_open(const char *socket, const char *credential, uid_t *uid, void **bytes, size_t *length,
              struct nuioa_error *err);

#endif
