/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_SYSFS_H
#define NUIOA_UTIL_SYSFS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

/* Small files of sysfs that describe network devices, GPUs and NUMA nodes. */

/* Descriptors of the directories that list them. One that does not exist is -1. */
struct nuioa_sysfs {
    int verbs; /* sys/class/infiniband */
    int net;   /* sys/class/net */
    int pci;   /* sys/bus/pci/devices */
    int drm;   /* sys/class/drm */
    int numa;  /* sys/devices/system/node */
};

/* Opens the directories below `root`: "" for this machine, the directory of a dump, or NULL for a
 * topology without sysfs. The caller closes them with nuioa_sysfs_close. It never fails: if a
 * directory does not exist, everything in it reads as absent. */
void nuioa_sysfs_open(struct nuioa_sysfs *sysfs, const char *root);

/* Closes the directories and sets them to -1. */
void nuioa_sysfs_close(struct nuioa_sysfs *sysfs);

/* In the functions below, `dir` is one of these descriptors (or another open directory), and stays
 * the caller's; `path` is a printf format for a path below it, of at most 255 bytes: a longer one
 * is -ENAMETOOLONG. If `dir` is -1, nothing is found (-ENOENT). The first three also take AT_FDCWD
 * (fcntl.h), with an absolute path. */

/* Reads a file, in one read(2), into `text`, an array of `size` bytes, without the blanks and
 * newlines at its end; longer text is cut. Returns the length of the text; or a negative errno
 * (-ENOENT if there is no such file), and the text is then empty. */
int nuioa_sysfs_text(int dir, char *text, size_t size, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads a file of lines, of which the kernel may hand out a part at a time. Returns its text
 * (malloc'd, caller frees). Of `max` bytes or more the last line that is cut and those after it are
 * left out. An error of reading ends the text. NULL: it cannot be opened, or memory is short. */
char *nuioa_sysfs_lines(int dir, size_t max, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads a file that holds one whole number: decimal, hexadecimal after 0x, or octal after 0.
 * Returns 0 and sets *value; or a negative errno (-EINVAL if it is not such a number), and *value
 * stays as it is. */
int nuioa_sysfs_number(int dir, long *value, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns true if `path` exists below `dir`. A link exists even if its target does not. */
bool nuioa_sysfs_exists(int dir, const char *path, ...) __attribute__((format(printf, 2, 3)));

/* Reads the target of the symbolic link `name` (no format) in `dir` into `target`, an array of
 * `size` bytes. Returns 0; or a negative errno (-ENAMETOOLONG if the target does not fit), and the
 * text is then empty. */
int nuioa_sysfs_link(int dir, char *target, size_t size, const char *name);

/* Opens the directory `path` (no format; "." for `dir` itself), from its first entry on. Returns a
 * stream that the caller closes with closedir; or NULL with errno, EBADF if `dir` is -1. */
DIR *nuioa_sysfs_list(int dir, const char *path);

#endif
