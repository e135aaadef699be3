#ifndef SPANK_SEAL_H
#define SPANK_SEAL_H

#include <stddef.h>
#include <sys/types.h>

#include "error.h"

/* MUNGE credentials of one kind: encrypted, and for the eyes of their own user alone. A dead munged costs
 * seconds, a stopped one more: whoever cannot wait asks a child process. */

/* Seals in a child process that is the user when it asks munged, and takes at most `deadline_ms`. `socket`
 * is munged's, "" the default one. 0 and *credential (text, malloc'd, caller frees), or negative with
 * *err: -EPERM if the user is root, for a credential of root's could be kept and used elsewhere. */
int seal_make(const char *socket, uid_t uid, gid_t gid, const void *bytes, size_t length,
              unsigned deadline_ms, char **credential, struct nuioa_error *err);

/* The same in this process, as whoever it is; waits for munged as long as libmunge does. */
int seal_make_here(const char *socket, uid_t reader, const void *bytes, size_t length, char **credential,
                   struct nuioa_error *err);

/* Opens a credential, in this process. Anyone's is opened: *uid says whose it is. One that was opened
 * before, is not encrypted or is not restricted to its own user is refused. 0 and *bytes (malloc'd, caller
 * frees; NULL if empty), or negative with *err: -EIO if it is munged's fault and not the credential's. */
int seal_open(const char *socket, const char *credential, uid_t *uid, void **bytes, size_t *length,
              struct nuioa_error *err);

#endif
