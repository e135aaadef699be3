/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_NEW_FILE_H
#define NUIOA_UTIL_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

/* A file that is written beside its place, under a name that no other file has, and put there when
 * it is complete: readers see the old file or the new one. Only a regular file is replaced: no
 * device, no pipe, no directory. */
struct nuioa_new_file {
    FILE *stream;  /* the caller writes to it */
    int directory; /* where the file is */
    char name[NAME_MAX + 1], temporary[NAME_MAX + 1];
};

/* Opens the file for writing, with the mode 0666 less the umask. Symbolic links are followed as
 * nuioa_secure_place() says. Returns 0, and the caller calls nuioa_new_file_close(); or -errno with
 * *err, and nothing is open: -EPERM if `path` names something other than a regular file, or leads
 * through a link that others may have made. */
int nuioa_new_file_open(struct nuioa_new_file *file, const char *path, struct nuioa_error *err);

/* Does the same for the file `name` in `directory`, a descriptor, which may be O_PATH. It belongs
 * to *file from now on, also after a failure. A link is not followed: it is replaced itself. `path`
 * is for *err. */
int nuioa_new_file_open_at(struct nuioa_new_file *file, int directory, const char *name,
                           const char *path, struct nuioa_error *err);

/* Closes the file, and puts it in its place if `keep` is true and all was written; else it is
 * removed. Returns 0, always so without `keep`; or -errno with *err, and an older file is still
 * there. */
int nuioa_new_file_close(struct nuioa_new_file *file, bool keep, const char *path,
                         struct nuioa_error *err);

#endif
