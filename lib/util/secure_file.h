/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_SECURE_FILE_H
#define NUIOA_UTIL_SECURE_FILE_H

#include <limits.h>

#include "util/error.h"

/* Checks for files that a process of root reads or writes. A file is secure if only root and the
 * caller (its effective user) can change it or put another file in its place. */

/* Checks that the directory that the file `path` is in (relative paths begin at the working
 * directory) and all directories above it are secure: root or the caller owns them, and nobody else
 * may write to them. A directory with the sticky bit may be writable for others, since they cannot
 * replace a file there that is not theirs. Systems have symbolic links on such paths (/var/run ->
 * /run): one is followed if root or the caller owns it, and if nobody else may write to the
 * directory that it is in, sticky or not. Sets *name to the file's name in the directory: a part of
 * `path`, or the constant "." if `path` ends with a '/'. Returns a descriptor of the directory
 * (O_PATH, close-on-exec) that the caller closes; -EPERM if it is not secure, or another -errno;
 * *err says why. */
int nuioa_secure_parent(const char *path, const char **name, struct nuioa_error *err);

/* Finds the directory where a file is to be written, which may be anybody's: symbolic links are
 * followed, the last one too. A process of root follows a link only if root owns it and nobody else
 * may write to the directory that it is in. Sets `name` to the file's name in the directory, where
 * it may exist or not, and is no link. Returns a descriptor of the directory (O_PATH,
 * close-on-exec) that the caller closes; -EPERM for a link that others may have made; -EISDIR,
 * -ENOENT or another -errno; *err says why. */
int nuioa_secure_place(const char *path, char name[NAME_MAX + 1], struct nuioa_error *err);

/* Opens a file for reading. It must be a regular file, not a symbolic link; root or the caller must
 * own it, nobody else may write to it, and its directory must be secure. The checks are made on the
 * open descriptors, so nobody can exchange a directory between check and use. Returns a descriptor
 * (close-on-exec) that the caller closes, -EPERM if the file is not secure, or another -errno; *err
 * says why. */
int nuioa_secure_open(const char *path, struct nuioa_error *err);

#endif
