/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_SECURE_FILE_H
#define NUIOA_UTIL_SECURE_FILE_H

#include "util/error.h"

/* Private: files that root believes. Nobody but root (or the caller, when that is not root) may be
 * able to change one or to put another in its place. */

/* 0 if `directory` and all directories on the way to it are owned by root or the caller and
 * writable by nobody else; a sticky one may be writable, since in it nobody replaces another's
 * file. A symbolic link on the way is followed, name by name, as systems and sites have them
 * (/var/run -> /run): one that root or the caller owns, in a directory that nobody else may write
 * to, sticky or not. -EPERM with *err, or -errno with *err. */
int nuioa_secure_directory(const char *directory, struct nuioa_error *err);

/* Opens for reading: a regular file, owned and writable as above, not a symbolic link, in a secure
 * directory, which cannot be swapped meanwhile. A descriptor (close-on-exec), -EPERM with *err, or
 * -errno with *err. */
int nuioa_secure_open(const char *path, struct nuioa_error *err);

#endif
