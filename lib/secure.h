#ifndef NUIOA_SECURE_H
#define NUIOA_SECURE_H

#include "error.h"

/* Private: files that root believes. Nobody but root (or the caller, when that is not root) may be
 * able to change one or to put another in its place. */

/* 0 if `directory` and all above it are owned by root or the caller and writable by nobody else; a
 * sticky directory may be writable, since in it nobody replaces another's file. -EPERM with *err, or
 * -errno. */
int nuioa_secure_directory(const char *directory, struct nuioa_error *err);

/* Opens for reading: a regular file, owned and writable as above, not a symbolic link, in a secure
 * directory. A descriptor (close-on-exec), -EPERM with *err, or -errno. */
int nuioa_secure_open(const char *path, struct nuioa_error *err);

#endif
